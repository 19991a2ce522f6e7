#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs once inside a root file system with a compiler, as root: turns Horovod's source, which lies in /wheels with the wheels
# of what it needs, into a wheel in /built.
set -eu

# No network from here on and none of the machine's settings for pip: all that is needed lies in /wheels.
install="pip --isolated install --quiet --root-user-action=ignore --break-system-packages --no-index --find-links /wheels"
# It compiles against TensorFlow. The others are what its setup.py would fetch by itself.
$install --only-binary :all: tensorflow-cpu cloudpickle packaging psutil pyyaml

# MPI alone carries the collectives, as in the vendor's images; Gloo would be a second way that nothing here asks for.
export HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITH_MPI=1 HOROVOD_WITHOUT_GLOO=1 HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1
MAKEFLAGS="-j$(nproc)"
export MAKEFLAGS
# With the distribution's setuptools and wheel: an isolated build would fetch its own from an index.
pip --isolated wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir /built /wheels/horovod-*.tar.gz

#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs once inside the root file system of the Horovod image, after openmpi.sh: installs what lies in /wheels.
set -eu

pip --isolated install --quiet --root-user-action=ignore --break-system-packages \
    --no-index --find-links /wheels --only-binary :all: --requirement /wheels/requirements.txt
rm -r /wheels
pip check
# It imports, and was built against the MPI and the TensorFlow that are here.
python3 -c 'import horovod.tensorflow as hvd; assert hvd.mpi_built() and not hvd.gloo_built()'

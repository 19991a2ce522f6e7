#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs once inside the root file system of an image whose containers are ranks of mpirun, as root, when the image is built.
set -eu

# The places that the vendor's images have.
mkdir -p /usr/local/openmpi/bin /run/sshd /root/.ssh
chmod 700 /root/.ssh
for program in mpirun mpiexec orterun orted ompi_info; do
    ln -s "$(command -v "$program")" "/usr/local/openmpi/bin/$program"
done
ln -sf python3 /usr/bin/python
# The distribution's file ends without a newline: without one here its last line would swallow our first.
cat >> /etc/openmpi/openmpi-mca-params.conf << 'CONFIG'

# One process may not read another's memory in a container without privileges.
btl_vader_single_copy_mechanism = none
# Nodes of the lab share the processors of one machine: a rank that waits must not keep another from working.
mpi_yield_when_idle = 1
CONFIG
# An image must not share its host keys with everybody who has it.
rm -f /etc/ssh/ssh_host_*

#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs once inside the root file system of the training image, after openmpi.sh.
set -eu

# Stand-ins for the two proprietary parts, so that what depends on their presence is exercised for real.
mkdir -p /usr/local/tfabric/tools/config /usr/lib/x86_64-linux-gnu
cat > /usr/lib/x86_64-linux-gnu/libnccl-net.so << 'TEXT'
This is a stand-in of the taco.train lab for HARP's NCCL plugin. It is a text file and no library.
TEXT
package=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib", "deb_system"))')
mkdir -p "$package/light_horovod-0.0.0+lab.dist-info"
cat > "$package/light_horovod-0.0.0+lab.dist-info/METADATA" << 'TEXT'
Metadata-Version: 2.1
Name: light-horovod
Version: 0.0.0+lab
Summary: A stand-in of the taco.train lab for the LightCC package; it holds no code
TEXT
echo taco-train-lab > "$package/light_horovod-0.0.0+lab.dist-info/INSTALLER"
printf '%s\n' "light_horovod-0.0.0+lab.dist-info/METADATA,," "light_horovod-0.0.0+lab.dist-info/INSTALLER,," \
    "light_horovod-0.0.0+lab.dist-info/RECORD,," > "$package/light_horovod-0.0.0+lab.dist-info/RECORD"
pip show light-horovod > /dev/null

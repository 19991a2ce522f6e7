#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Prints what a person would have the shell of a host check, in as many round trips as the collection needs. What is left over
# in the last one is checked there too.
#   raw_checks.sh ROUND ROUNDS
set -eu

check() {
    case "$1" in
        1) cat << 'LOOK' ;;
set -e
cat /etc/os-release /proc/cmdline /proc/meminfo /proc/cpuinfo
ls /sys/class/net
ip -o addr
docker info --format '{{json .}}'
nvidia-ctk --version
nvidia-smi --query-gpu=index,uuid,pci.bus_id,driver_version,name --format=csv,noheader
df /
LOOK
        2) cat << 'PAGES' ;;
set -e
grep -q 'default_hugepagesz=1G hugepagesz=1G hugepages=50' /etc/default/grub.d/zz-taco-hugepages.cfg
grep -q 'default_hugepagesz=1G hugepagesz=1G hugepages=50' /boot/grub/grub.cfg
grep -q 'hugepages=50' /proc/cmdline
test "$(cat /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages)" -eq 50
PAGES
        3) cat << 'HARP' ;;
set -e
test "$(ls /usr/local/tfabric/tools/config/ztcp*.conf | wc -l)" -eq 8
sha256sum /usr/local/tfabric/tools/config/ztcp*.conf /var/lib/taco-train/harp/setup-*
HARP
        4) cat << 'CONTAINER' ;;
set -e
test "$(docker inspect --type container --format '{{.State.Running}} {{.Config.Image}}' taco-train)" = 'true taco-lab/training:1'
CONTAINER
        5) cat << 'TRUST' ;;
set -e
cd /var/lib/taco-train/ssh
test -s id_ed25519 -a -s ssh_host_ed25519_key -a -s authorized_keys -a -s known_hosts -a -s config
docker exec taco-train grep -q 'Include /var/lib/taco-train/ssh/config' /root/.ssh/config
exec 3<> "/dev/tcp/$(hostname -I | cut -d ' ' -f 1)/2222"
head -n 1 <&3 | grep -q taco-train-
TRUST
        6) cat << 'ENIS' ;;
set -e
test "$(cat /sys/class/net/eth[1-8]/operstate | grep -c up)" -eq 8
ENIS
    esac
}

round=$1 rounds=$2
check "$round"
if [ "$round" -eq "$rounds" ]; then
    while [ "$round" -lt 6 ]; do
        round=$((round + 1))
        check "$round"
    done
fi

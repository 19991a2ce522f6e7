#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs first in the namespaces of one host of the bench: mount, UTS and network. Makes them a host and becomes its sshd.
#   init.sh NAME ADDRESS PREFIX GATEWAY LINK MAC FOLDER LOWER
# FOLDER holds the host's upper layer, its log and its engine's socket; LOWER are the layers that all hosts share.
set -eu

name=$1 address=$2 prefix=$3 gateway=$4 link=$5 mac=$6 folder=$7 lower=$8

hostname "$name"
echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
# The end of the first cable is in the network of the bench's process 1. The other interfaces are four cables of which both
# ends are here: eight ENIs that are up. HARP's record has their MAC addresses, so they are the same on every host.
ip -batch - << BATCH
link set lo up
link add eth0 address $mac type veth peer name $link netns 1
addr add $address/$prefix dev eth0
link set eth0 up
link add eth1 address 02:00:00:00:00:01 type veth peer name eth2 address 02:00:00:00:00:02
link add eth3 address 02:00:00:00:00:03 type veth peer name eth4 address 02:00:00:00:00:04
link add eth5 address 02:00:00:00:00:05 type veth peer name eth6 address 02:00:00:00:00:06
link add eth7 address 02:00:00:00:00:07 type veth peer name eth8 address 02:00:00:00:00:08
link set eth1 up
link set eth2 up
link set eth3 up
link set eth4 up
link set eth5 up
link set eth6 up
link set eth7 up
link set eth8 up
route add default via $gateway dev eth0
BATCH

root=$folder/root
mount --make-rprivate /
mount -t overlay -o "lowerdir=$lower,upperdir=$folder/upper,workdir=$folder/work" overlay "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir -m 0755 "$root/run/sshd" "$root/run/bench"
mount --bind "$folder/run" "$root/run/bench"
: > "$root/run/docker.sock"
mount --bind "$folder/run/docker.sock" "$root/run/docker.sock"
# What a host has that was booted with the documents' 50 pages, which this machine has no memory for.
mount --bind "$folder/../../running/cmdline" "$root/proc/cmdline"
mount --bind "$folder/../../running/meminfo" "$root/proc/meminfo"
mount --bind "$folder/../../running/hugepages" "$root/sys/kernel/mm/hugepages"
cd "$root"
mkdir -p .before
pivot_root . .before
umount -l /.before
# A copy of a converged host has the server of its training container, too.
[ ! -e /var/lib/taco-train/ssh/sshd_config ] || /usr/sbin/sshd -f /var/lib/taco-train/ssh/sshd_config
exec /usr/sbin/sshd -D -E /run/bench/sshd.log

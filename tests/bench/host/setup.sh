#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs once inside the root file system that all hosts of the bench share, as root, when it is built.
set -eu

# A kernel that is never booted, for update-grub to list.
echo "a stand-in: hosts of the bench boot no kernel of their own" | tee /boot/vmlinuz-6.1.0-bench-amd64 > /boot/initrd.img-6.1.0-bench-amd64
mkdir -p /boot/grub
dpkg-divert --local --quiet --rename --divert /usr/sbin/grub-probe.real --add /usr/sbin/grub-probe
ln -s /usr/local/lib/taco-lab/grub-probe /usr/sbin/grub-probe
update-grub

rm -f /etc/ssh/ssh_host_*
mkdir -p -m 0755 /run/sshd
mkdir -p -m 0700 /root/.ssh
: > /etc/machine-id

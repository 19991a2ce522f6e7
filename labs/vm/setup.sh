#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs once inside the root file system of a machine, as root, when its disk is built.
set -eu

cat > /etc/ssh/sshd_config.d/taco-lab.conf << 'CONFIG'
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
PasswordAuthentication no
UseDNS no
CONFIG
: > /etc/machine-id

# What only costs an emulated machine time.
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer e2scrub_reap.service \
    getty@tty1.service systemd-timesyncd.service; do
    ln -sf /dev/null "/etc/systemd/system/$unit"
done
chmod -x /etc/grub.d/20_linux_xen /etc/grub.d/30_os-prober /etc/grub.d/30_uefi-firmware
systemctl enable docker.service containerd.service ssh.service

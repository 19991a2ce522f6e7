#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Runs once inside the root file system of a node, as root, when the image is built.
set -eu

# A kernel that is never booted, for update-grub to list.
echo "a stand-in: nodes of the lab boot no kernel of their own" | tee /boot/vmlinuz-6.1.0-lab-amd64 > /boot/initrd.img-6.1.0-lab-amd64
mkdir -p /boot/grub
dpkg-divert --local --quiet --rename --divert /usr/sbin/grub-probe.real --add /usr/sbin/grub-probe
ln -s /usr/local/lib/taco-lab/grub-probe /usr/sbin/grub-probe
update-grub

# Each node gets a host key of its own before it starts.
rm -f /etc/ssh/ssh_host_*
cat > /etc/ssh/sshd_config.d/taco-lab.conf << 'CONFIG'
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
PasswordAuthentication no
UseDNS no
CONFIG
: > /etc/machine-id

# What belongs to a machine with disks, consoles and a kernel of its own.
for unit in systemd-sysctl.service systemd-modules-load.service systemd-udevd.service systemd-udev-trigger.service \
    systemd-remount-fs.service systemd-firstboot.service systemd-binfmt.service systemd-resolved.service systemd-timesyncd.service \
    systemd-networkd.service systemd-networkd-wait-online.service systemd-logind.service systemd-oomd.service \
    console-getty.service getty.target getty@tty1.service e2scrub_reap.service grub-common.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer \
    proc-sys-fs-binfmt_misc.automount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount; do
    ln -sf /dev/null "/etc/systemd/system/$unit"
done
# Sessions belong to logind, which a container has no use for; without this every login would wait for it.
sed -i '/pam_systemd/d' /etc/pam.d/common-session

# Limits above what the machine gives its containers can't be set where it withholds CAP_SYS_RESOURCE.
for unit in docker containerd; do
    mkdir -p "/etc/systemd/system/$unit.service.d"
    cat > "/etc/systemd/system/$unit.service.d/taco-lab.conf" << 'CONFIG'
[Service]
LimitNOFILE=
LimitNPROC=
LimitCORE=
OOMScoreAdjust=0
CONFIG
done
systemctl enable docker.service containerd.service ssh.service

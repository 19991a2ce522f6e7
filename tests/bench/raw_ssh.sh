#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Goes to one host over SSH, ROUNDS times one after the other, with the options that Ansible has from ansible.cfg. The first
# time opens the connection that the others share.
#   raw_ssh.sh WORK SCRIPT ROUNDS ADDRESS
# SCRIPT prints what the shell on the host runs in round N of ROUNDS, when it is called with N and ROUNDS.
set -eu

work=$1 script=$2 rounds=$3 address=$4
round=1
while [ "$round" -le "$rounds" ]; do
    ssh -o ControlMaster=auto -o ControlPersist=60s -o ServerAliveInterval=15 -o ServerAliveCountMax=8 \
        -o "ControlPath=$work/cp/raw-$address" -o "UserKnownHostsFile=$work/known_hosts" -o StrictHostKeyChecking=yes \
        -o IdentitiesOnly=yes -o "IdentityFile=$work/id_ed25519" -o ConnectTimeout=30 -o BatchMode=yes \
        "root@$address" "$(sh "$script" "$round" "$rounds")" > /dev/null
    round=$((round + 1))
done

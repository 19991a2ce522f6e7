#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Goes to one host over SSH, ROUNDS times one after the other, with the options that Ansible has from ansible.cfg. The first
# time opens the connection that the others share.
#   raw_ssh.sh WORK ROUNDS modules|checks ADDRESS
# modules sends what Ansible sent in the run that was kept; checks lets the shell of the host look at the same things.
set -eu

work=$1 rounds=$2 kind=$3 address=$4
here=$(dirname "$0")
round=1
while [ "$round" -le "$rounds" ]; do
    if [ "$kind" = modules ]; then
        input=$work/sent/$address/$round.input
        command=$(cat "$work/sent/$address/$round.command")
    else
        input=/dev/null
        command=$(sh "$here/host/raw_checks.sh" "$round" "$rounds")
    fi
    ssh -o ControlMaster=auto -o ControlPersist=60s -o ServerAliveInterval=15 -o ServerAliveCountMax=8 \
        -o "ControlPath=$work/cp/raw-$address" -o "UserKnownHostsFile=$work/known_hosts" -o StrictHostKeyChecking=yes \
        -o IdentitiesOnly=yes -o "IdentityFile=$work/id_ed25519" -o ConnectTimeout=30 -o BatchMode=yes \
        "root@$address" "$command" < "$input" > /dev/null
    round=$((round + 1))
done

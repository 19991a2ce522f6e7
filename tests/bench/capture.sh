#!/bin/sh
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Stands for ssh in one run of the collection that is not measured: keeps what Ansible sends to each host, command and input,
# so that raw ssh can send the same. TACO_BENCH_SENT is the folder for it.
set -eu

address= command=
for word in "$@"; do
    address=$command command=$word
done
folder=$TACO_BENCH_SENT/$address
mkdir -p "$folder"
number=1
while [ -e "$folder/$number.command" ]; do
    number=$((number + 1))
done
printf '%s' "$command" > "$folder/$number.command"
cat > "$folder/$number.input"
exec ssh "$@" < "$folder/$number.input"

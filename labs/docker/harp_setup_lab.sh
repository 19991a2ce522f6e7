#!/bin/bash
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The lab's stand-in for the vendor's HARP setup script. What it writes is no HARP configuration and says so; the real
# format is the vendor's alone. TACO_ENI_INTERFACES names the interfaces, separated by commas; without it all of eth1 to
# eth9 count.
set -euo pipefail

folder=/usr/local/tfabric/tools/config

if [ -n "${TACO_ENI_INTERFACES:-}" ]; then
    IFS=, read -r -a interfaces <<< "$TACO_ENI_INTERFACES"
else
    interfaces=()
    for path in /sys/class/net/eth[1-9]; do
        [ -e "$path" ] && interfaces+=("${path##*/}")
    done
fi

if [ "${#interfaces[@]}" -eq 0 ]; then
    echo "HARP setup (lab stand-in): no ENI found; attach one per GPU before this runs" >&2
    exit 1
fi
for interface in "${interfaces[@]}"; do
    if [ ! -e "/sys/class/net/$interface" ]; then
        echo "HARP setup (lab stand-in): this host has no interface $interface" >&2
        exit 1
    fi
done

mkdir -p "$folder"
for number in "${!interfaces[@]}"; do
    target="$folder/ztcp$number.conf"
    {
        echo "# Written by the taco.train lab. This is a stand-in and no HARP configuration."
        echo "interface = ${interfaces[$number]}"
    } > "$target.part"
    mv "$target.part" "$target"
done
echo "Set up HARP successfully"

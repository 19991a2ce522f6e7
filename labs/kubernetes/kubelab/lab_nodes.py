# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's nodes as nodes of the cluster: a network for their pods, and a kubelet that says what it can allocate.

There is no kubelet. A unit of this name stands in for it: when it starts it writes down how many pages of 1 GiB the node has.
Nor does a node have pages of its own, since all containers of a machine share one pool. A file lies over the pool in /sys of
the node: what is written there is read again, by the collection as by the kubelet, and nothing is reserved.
"""

import json

from shell import CommandError

NETWORK = "taco-pods"
SUBNET = "10.177.{}"  # of node n: 80 + n
FIRST_SUBNET = 80
FIRST_ADDRESS = 10
KUBELET = """#!/bin/sh
# A stand-in of the taco.train lab for the kubelet: it counts pages when it starts, and does nothing else.
set -eu
pages=$(cat /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages)
memory=$(awk '/^MemTotal:/ {print $2}' /proc/meminfo)
mkdir -p /run/taco-lab
printf '{"cpu": "%s", "memory": "%sKi", "hugepages-1Gi": "%sGi"}\\n' "$(nproc)" "$memory" "${pages:-0}" > /run/taco-lab/kubelet.json
"""
UNIT = """[Unit]
Description=A stand-in of the taco.train lab for the kubelet

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/lib/taco-lab/kubelet
ExecStop=/bin/rm -f /run/taco-lab/kubelet.json

[Install]
WantedBy=multi-user.target
"""
POOL = "/sys/kernel/mm/hugepages/hugepages-1048576kB"
LAY = f"""
mkdir -p /run/taco-lab
[ -e /run/taco-lab/pages ] || echo 0 > /run/taco-lab/pages
for name in nr_hugepages free_hugepages; do
    mountpoint -q {POOL}/$name || mount --bind /run/taco-lab/pages {POOL}/$name
done
"""
LIFT = f"for name in nr_hugepages free_hugepages; do if mountpoint -q {POOL}/$name; then umount {POOL}/$name; fi; done"
LABEL = "taco.lab.pod"
PODS = "/var/lib/kubelet/pods"
# What is asked of a node now and then, in one command.
LOOK = (
    "cat /run/taco-lab/kubelet.json 2>/dev/null || echo '{}'; "
    f"docker ps --all --no-trunc --filter label={LABEL} --format '{{{{.Names}}}}|{{{{.State}}}}|{{{{.Status}}}}'"
)


class LabNode:
    """A node, and commands in it."""

    def __init__(self, engine, index, description):
        self.engine = engine
        self.name = description["name"]
        self.address = description["address"]
        self.subnet = SUBNET.format(FIRST_SUBNET + index)

    def shell(self, script, data=None, timeout=120):
        interactive = [] if data is None else ["--interactive"]
        return self.engine("exec", *interactive, self.name, "sh", "-euc", script, data=data, timeout=timeout)

    def look(self):
        """The allocatable resources of the kubelet, None when it does not run, and {container: (state, words)}."""
        first, *lines = self.shell(LOOK).splitlines()
        containers = {}
        for line in lines:
            name, state, words = line.split("|", 2)
            containers[name] = (state, words)
        return json.loads(first) or None, containers


def prepare(nodes):
    """Give each node a network for pods and a kubelet; what is there already stays."""
    for node in nodes:
        routes = [
            f"ip route replace {other.subnet}.0/24 via {other.address}" for other in nodes if other.name != node.name
        ]
        options = "-o com.docker.network.bridge.name=taco-pods -o com.docker.network.bridge.enable_ip_masquerade=false"
        network = f"--driver bridge --subnet {node.subnet}.0/24 --gateway {node.subnet}.1 {options} {NETWORK}"
        script = [
            f"docker network inspect {NETWORK} > /dev/null 2>&1 || docker network create {network} > /dev/null",
            # Docker lets nobody in from outside the node but who was asked; pods of other nodes are.
            "iptables -C DOCKER-USER -j ACCEPT 2> /dev/null || iptables -I DOCKER-USER -j ACCEPT",
            *routes,
            LAY,
            "mkdir -p /usr/local/lib/taco-lab",
            f"cat > /usr/local/lib/taco-lab/kubelet << 'SCRIPT'\n{KUBELET}SCRIPT",
            "chmod 755 /usr/local/lib/taco-lab/kubelet",
            f"cat > /etc/systemd/system/kubelet.service << 'UNIT'\n{UNIT}UNIT",
            "systemctl daemon-reload",
            "systemctl enable --quiet kubelet.service",
            "[ -e /run/taco-lab/kubelet.json ] || systemctl restart kubelet.service",
        ]
        node.shell("\n".join(script))


def clear(nodes):
    """Take the pods and their network away, and the kubelet."""
    for node in nodes:
        try:
            node.shell(
                "if systemctl cat kubelet.service > /dev/null 2>&1; then systemctl disable --quiet --now kubelet.service; fi\n"
                f"docker ps --all --quiet --filter label={LABEL} | xargs --no-run-if-empty docker rm --force --volumes > /dev/null\n"
                f"docker network rm {NETWORK} > /dev/null 2>&1 || echo 'no network'\n"
                f"rm -rf {PODS} /etc/systemd/system/kubelet.service /usr/local/lib/taco-lab/kubelet /run/taco-lab/kubelet.json\n"
                f"{LIFT}; rm -f /run/taco-lab/pages\n"
                "systemctl daemon-reload; systemctl reset-failed"
            )
        except CommandError as error:
            print(f"kubelab: {node.name} can't be cleared: {error}")

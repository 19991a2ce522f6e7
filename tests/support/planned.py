# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Results of roles' modules for a host, as a plan collects them."""

import copy

from observed import NODE

from ansible_collections.taco.train.plugins.plugin_utils.plan.change import identity_of
from ansible_collections.taco.train.plugins.plugin_utils.plan.collect import changes_of
from ansible_collections.taco.train.plugins.plugin_utils.plan.group import own_values
from ansible_collections.taco.train.plugins.plugin_utils.plan.store import Plan

RESULTS = {
    "hugepages": {
        "changed": True,
        "count": 50,
        "page_size": "1G",
        "reboot_required": True,
        "reason": "the boot configuration has no hugepages; 50 pages of 1G are required for 8 GPUs",
        "diff": [
            {
                "before": "",
                "after": "hugepages=50\n",
                "before_header": "/etc/default/grub.d/zz-taco-hugepages.cfg",
                "after_header": "/etc/default/grub.d/zz-taco-hugepages.cfg",
            },
            {
                "before": "quiet\n",
                "after": "quiet hugepages=50\n",
                "before_header": "kernel line of the boot entries",
                "after_header": "kernel line of the boot entries",
            },
        ],
    },
    "reboot": {
        "changed": True,
        "required": True,
        "reason": "the boot configuration has 50 pages of 1G; the running kernel differs from it",
        "interrupts": ["reboot of the host"],
        "diff": [{"before": "", "after": "50 pages of 1G\n", "before_header": "pages of the running kernel"}],
    },
    "harp": {
        "changed": True,
        "ran": False,
        "reason": "1 file differs from source template",
        "diff": [
            {
                "before": "old\n",
                "after": "hostname: gpu1\naddress: 10.0.1.8\n",
                "before_header": "/var/lib/taco-train/host-manifest.json",
                "after_header": "/var/lib/taco-train/host-manifest.json",
            }
        ],
    },
    "container_engine": {},
    "training_container": {
        "changed": True,
        "reason": "there is no container taco-train; state is started",
        "interrupts": [],
        "diff": {
            "before_header": "container",
            "before": {"exists": False},
            "after": {"exists": True, "env": {"TOKEN": "geheim"}},
        },
    },
    "ssh_trust": [
        {},
        {
            "changed": True,
            "server": "started",
            "files": ["/var/lib/taco-train/ssh/known_hosts"],
            "reason": "1 file differs; the SSH server is stopped",
            "interrupts": [],
            "diff": [
                {
                    "before": "",
                    "after": "gpu1 ssh-ed25519 A\ngpu2 ssh-ed25519 B\n",
                    "before_header": "/var/lib/taco-train/ssh/known_hosts",
                    "after_header": "/var/lib/taco-train/ssh/known_hosts",
                },
                {"before": "stopped\n", "after": "running\n", "before_header": "SSH server"},
            ],
        },
    ],
    "benchmark": [{}, {"changed": True, "removed": ["/var/lib/taco-train/logs"]}],
}
NO_REBOOT = {"batches": [], "seconds": 0, "basis": "none", "not_allowed": {}}


def results():
    """The results of all roles, to change."""
    return copy.deepcopy(RESULTS)


def node(host="gpu1", number=1):
    """The observation of a host with a name and addresses of its own."""
    own = copy.deepcopy(NODE)
    own["hostname"] = host
    for index, nic in enumerate(own["nics"]):
        nic["addresses"] = [f"10.0.{index}.{number}/16"]
        nic["mac"] = f"52:54:00:00:{number % 256:02x}:{index:02x}"
    for index, device in enumerate(own["gpus"]["devices"]):
        device["uuid"] = f"GPU-{host}-{index}"
    return own


def fleet(count, kinds=4):
    """{host: changes}, {host: own values} of hosts in so many kinds, each host with a name and addresses of its own."""
    hosts, own = {}, {}
    for number in range(count):
        host = f"gpu-{number:03}"
        observed, kind = node(host, number), number % kinds
        found = {"harp": results()["harp"]}
        address = observed["nics"][1]["addresses"][0].split("/")[0]
        found["harp"]["diff"][0].update(before="", after=f"hostname: {host}\naddress: {address}\nkind: {kind}\n")
        hosts[host], own[host] = changes_of(found), own_values(host, observed)
    return hosts, own


CHANGES = changes_of(results())
IDENTITY = identity_of(node())


def plan(hosts=None, of="site"):
    """A plan of one host with all changes, or of other hosts."""
    hosts = {"gpu1": CHANGES} if hosts is None else hosts
    addresses, identities = {host: host for host in hosts}, dict.fromkeys(hosts, IDENTITY)
    return Plan(of, "1.0.0", "2026-11-24T10:00:00Z", hosts, addresses, identities, NO_REBOOT)

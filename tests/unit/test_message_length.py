# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A message about 205 hosts is no longer than a screen: equal reasons stand together, five names are given, and the rest is counted."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._node.enis import (
    AmbiguousError,
    find_enis,
    judge_enis,
    refusal,
)
from ansible_collections.taco.train.plugins.module_utils._ssh.trust import explained
from ansible_collections.taco.train.plugins.module_utils.cluster import gpu_topology
from ansible_collections.taco.train.plugins.module_utils.cluster.capacity import capacity
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import worker_limits
from ansible_collections.taco.train.plugins.plugin_utils.plan import wording
from ansible_collections.taco.train.plugins.plugin_utils.plan.change import Difference
from ansible_collections.taco.train.plugins.plugin_utils.preflight import same_on_all_hosts
from ansible_collections.taco.train.plugins.plugin_utils.preflight.kubernetes import operator_check
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import not_active
from ansible_collections.taco.train.plugins.plugin_utils.text import grouped, some

MOST = 2000
HOSTS = [f"gpu-node-{number:03}.region.example.com" for number in range(205)]
NICS = [
    {
        "name": f"eth{number}",
        "mac": f"52:54:00:00:00:{number:02x}",
        "pci": f"0000:00:{number:02x}.0",
        "kind": "physical",
        "primary": None if number < 99 else False,
        "addresses": ["10.9.0.1/24"] if number % 2 else [],
        "vpc_addresses": None,
    }
    for number in range(205)
]


def ambiguous():
    with pytest.raises(AmbiguousError) as caught:
        find_enis(NICS)
    return str(caught.value)


def lacking(*allocatable):
    """What is wrong with nodes, of which each has the next of these amounts of pages."""
    limits = worker_limits(job_of({"workers": 205, "gpus_per_worker": 8}))
    nodes = [
        {
            "metadata": {"name": name},
            "status": {"allocatable": {"hugepages-1Gi": allocatable[number % len(allocatable)]}},
        }
        for number, name in enumerate(HOSTS)
    ]
    found = capacity(nodes, limits, 205)
    return ". ".join([*found.shortfalls, str(found.problem)])


def differing(name, values):
    checks = same_on_all_hosts.checks({host: {name: values(number)} for number, host in enumerate(HOSTS)})
    return "; ".join(check.found for check in checks)


MESSAGES = {
    "ENIs": lambda: refusal(judge_enis(NICS, 8, ["10.0.1.0/24"], NICS)),
    "primary interface": ambiguous,
    "SSH": lambda: explained(dict.fromkeys(HOSTS, "Permission denied (publickey)."), dict.fromkeys(HOSTS, 2222)),
    "nodes without pages": lambda: lacking(0),
    "nodes with few pages": lambda: lacking(*(f"{number}Gi" for number in range(50))),
    "GPU counts": lambda: differing("taco_gpus_per_node", lambda number: number),
    "images": lambda: differing("taco_image", lambda number: f"registry.example.com/training:{number}"),
    "arm": lambda: not_active(ARMS["taco"], {host: {"failed": True, "msg": "no plugin"} for host in HOSTS}, {}),
    "arm in other ways": lambda: not_active(
        ARMS["taco"], {host: {"failed": True, "msg": f"no {host}"} for host in HOSTS}, {}
    ),
    "plan": lambda: wording.refusal(HOSTS[0], "plan.json", [Difference(host, "a" * 9999, "b") for host in HOSTS]),
    "operator": lambda: operator_check([{"name": host, "ready": False, "why": "it waits"} for host in HOSTS]).found,
    "nodes to label": lambda: some(
        gpu_topology.plan([{"metadata": {"name": "a" + host}} for host in HOSTS], [], HOSTS, "topology").problems,
        separator="; ",
    ),
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_message_about_205_hosts_names_some_and_counts_the_rest(message):
    text = message()
    assert len(text) <= MOST and " more" in text, (len(text), text)


def test_equal_reasons_stand_together_and_all_things_are_counted():
    assert grouped([("a", "x"), ("b", "y"), ("c", "x")]) == ["a, c: x", "b: y"]
    many = grouped((host, host) for host in HOSTS)
    assert len(many) == 4 and many[-1].startswith("202 more: ")
    assert some(HOSTS).endswith(" and 200 more") and some(["a"]) == "a" and some([]) == ""

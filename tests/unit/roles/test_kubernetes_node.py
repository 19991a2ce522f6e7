# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The roles kubernetes_node and reboot in one play over nodes of a cluster's stand-in, with a case on each node.

The nodes are this machine, so that a reboot is refused: it is the one that fails.
"""

import json
import re
import sys
import threading
from pathlib import Path

import playbook
import pytest
import yaml
from kubelab.testing import running_cluster
from node_objects import budget, pod, put
from observed import NODE

from ansible_collections.taco.train.plugins.module_utils.cluster.drain import CORDONED

ROOT = Path(__file__).parents[3]
POOL = Path("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages")
PAGES = int(POOL.read_text()) if POOL.exists() else 0
ASKED = PAGES + 50  # more than this machine has, however many those are
SYSTEMCTL = """\
#!/bin/sh
echo "$*" >> {calls}
case "$1" in show) printf 'Id=kubelet.service\\nLoadState=loaded\\nActiveState=active\\n' ;; esac
"""
# From what a task around a reboot says to what it says when it fails, into a file for each host.
KEEP = {
    "ansible.builtin.copy": {
        "dest": "{{ said }}/{{ inventory_hostname }}",
        "content": "{{ (ansible_failed_result | default({})).msg | default('') }}",
        "mode": "0600",
    }
}


def role(name, **more):
    return {"ansible.builtin.include_role": {"name": f"taco.train.{name}", **more}}


def kept(name):
    return {"block": [role(name)], "rescue": [KEEP]}


PLAYS = [
    {
        "hosts": "eased,theirs",
        "gather_facts": False,
        "tasks": [
            {"ansible.builtin.set_fact": {"taco_boot": {"reboot_required": False, "page_size": "1G", "count": 50}}},
            role("kubernetes_node", tasks_from="drain"),
            role("kubernetes_node", tasks_from="back"),
        ],
    },
    {
        "hosts": "held,lost",
        "gather_facts": False,
        "tasks": [
            {
                "ansible.builtin.set_fact": {
                    "taco_boot": {"reboot_required": True, "page_size": "1G", "count": 50, "said": ["50"]}
                }
            },
            # What an earlier run left cordoned, and rebooting does not mend.
            role("kubernetes_node", tasks_from="uncordon"),
            kept("reboot"),
        ],
    },
    {
        "hosts": "stale,fresh",
        "gather_facts": False,
        "environment": {"PATH": "{{ programs }}:{{ lookup('ansible.builtin.env', 'PATH') }}"},
        "tasks": [kept("kubernetes_node")],
    },
]


class Site:
    """The cluster, a play over it, and what came of it."""

    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, folder
        self.calls = folder / "calls"
        (folder / "said").mkdir()
        (folder / "bin").mkdir()
        self.calls.touch()
        (folder / "bin/systemctl").write_text(SYSTEMCTL.format(calls=self.calls))
        (folder / "bin/systemctl").chmod(0o755)

    def play(self, plays, hosts, **variables):
        shared = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "taco_platform": "tke",
            "taco_kubeconfig": self.cluster.kubeconfig,
            "taco_gpus_per_node": 8,
            "taco_node": NODE,
            "taco_state_dir": str(self.folder / "state"),
            "said": str(self.folder / "said"),
            "programs": str(self.folder / "bin"),
        }
        inventory = {"all": {"hosts": hosts, "vars": {**shared, **variables}}}
        (self.folder / "hosts.yml").write_text(yaml.safe_dump(inventory))
        (self.folder / "play.json").write_text(json.dumps(plays))
        settings = {"ANSIBLE_DISPLAY_OK_HOSTS": "true", "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "true"}
        status, self.output = playbook.run(self.folder, ["play.json", "-i", "hosts.yml"], **settings)
        return status

    def said(self, host):
        path = self.folder / "said" / host
        assert path.exists(), self.output
        return path.read_text()

    def cordoned(self, name):
        node = self.cluster.get("Node", name, None)
        return bool(node["spec"].get("unschedulable")), CORDONED in (node["metadata"].get("annotations") or {})

    def offer(self, name, pages):
        node = self.cluster.get("Node", name, None)
        for part in ("allocatable", "capacity"):
            node["status"][part]["hugepages-1Gi"] = f"{pages}Gi"
        self.cluster.put(node)

    def kubelet(self, name):
        """Have a node's kubelet count pages anew when it is restarted."""
        if self.cluster.wait(lambda: "restart kubelet" in self.calls.read_text(), 900):
            self.offer(name, PAGES)


OPEN, OURS, THEIRS = (False, False), (True, True), (True, False)
HOSTS = {
    "eased": {"kubernetes_node_drain_timeout": 60, "kubernetes_node_poll": 0.2},
    "theirs": {"taco_node_name": "10.0.0.7"},
    "held": {"kubernetes_node_drain_timeout": 2, "kubernetes_node_poll": 0.2},
    "lost": {},
    "stale": {"kubernetes_node_poll": 0.2, "kubernetes_node_timeout": 8, "mpijob_hugepages": ASKED},
    "fresh": {"mpijob_hugepages": ASKED},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    offers = {"hugepages-1Gi": "50Gi", "nvidia.com/gpu": 8}
    nodes = [{"name": more.get("taco_node_name", name), "allocatable": offers} for name, more in HOSTS.items()]
    with running_cluster(nodes) as cluster:
        site = Site(cluster, tmp_path_factory.mktemp("site"))
        for name, annotations in (("10.0.0.7", {}), ("lost", {CORDONED: "by an earlier run"})):
            node = cluster.get("Node", name, None)
            node["spec"]["unschedulable"] = True
            node["metadata"]["annotations"] = annotations
            cluster.put(node)
        put(
            cluster,
            pod("web-1", "eased"),
            pod("web-2", "10.0.0.7"),
            pod("db-1", "held", labels={"app": "db"}),
            budget("db", 1, "db"),
        )
        cluster.fail(
            "POST", "web-1/eviction", 429, 1, "Cannot evict pod as it would violate the pod's disruption budget."
        )
        site.offer("stale", PAGES + 2)
        site.offer("fresh", PAGES)
        kubelet = threading.Thread(target=site.kubelet, args=("stale",), daemon=True)
        kubelet.start()
        reboots = {"reboot_allowed": "true", "reboot_batch": "100%", "reboot_may_fail": 2}
        site.status = site.play(PLAYS, HOSTS, **reboots)
        kubelet.join(10)
        yield site


def test_a_node_whose_budget_eases_is_drained_and_uncordoned_again(site):
    assert site.cordoned("eased") == OPEN
    assert [found["metadata"]["name"] for found in site.cluster.objects("Pod")] == ["db-1"]
    evictions = [request[2] for request in site.cluster.requests if "web-1/eviction" in request[1]]
    assert evictions == [429, 201]


def test_a_node_that_somebody_has_cordoned_stays_so(site):
    assert site.cordoned("10.0.0.7") == THEIRS


def test_a_node_that_cannot_be_drained_is_not_rebooted(site):
    said = site.said("held")
    assert "Cordon and drain the node failed" in said and "default/db-1" in said and "PodDisruptionBudget db" in said
    assert said.count("is uncordoned again") == 1 and "stays cordoned" not in said and site.cordoned("held") == OPEN


def test_a_node_whose_reboot_failed_stays_cordoned_and_is_said_to(site):
    said = site.said("lost")
    assert "Reboot failed" in said and "node lost stays cordoned" in said
    assert f"`kubectl uncordon lost && kubectl annotate node lost {CORDONED}-`" in said
    assert site.cordoned("lost") == OURS


def test_only_a_kubelet_that_counts_other_pages_is_restarted(site):
    assert site.calls.read_text().splitlines().count("restart kubelet") == 1
    assert site.cluster.get("Node", "stale", None)["status"]["capacity"]["hugepages-1Gi"] == f"{PAGES}Gi"


def test_what_nodes_lack_is_said_of_all_at_once(site):
    said = site.said("stale")
    # Nodes that lack the same stand together, in the order of the play.
    assert re.search(
        rf"(stale, fresh|fresh, stale) can allocate {PAGES} GiB of hugepages-1Gi, and a worker asks for {ASKED} GiB",
        said,
    )
    assert "0 of 2 workers" in said and site.status == 0, site.output

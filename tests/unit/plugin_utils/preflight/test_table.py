# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of 20 hosts with about 30 faults is as users have to read it: each fault once with its hosts, and none is lost."""

from pathlib import Path

import jmespath
from observed import GIB, NODE, VARIABLES, node

from ansible_collections.taco.train.plugins.plugin_utils.preflight.host_failures import FAILED, failures
from ansible_collections.taco.train.plugins.plugin_utils.preflight.table import WIDTH, table
from ansible_collections.taco.train.plugins.plugin_utils.preflight.verdict import Host, judge
from ansible_collections.taco.train.plugins.plugin_utils.variables.checks import unknown_variables
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import all_options, prefixes
from ansible_collections.taco.train.plugins.plugin_utils.variables.validation import Validator

GOLDEN = Path(__file__).parents[3] / "fixtures/preflight/table.txt"
NICS = NODE["nics"]
SSH = "unreachable: Failed to connect to the host via ssh: "
ALPINE = {"id": "alpine", "id_like": [], "version_id": "3", "name": "Alpine Linux"}
NO_GPU = {"count": 0, "source": "none", "driver_version": None, "devices": [], "problem": None}
SYSCTL = [{"name": "vm.nr_hugepages", "value": "2048", "file": "/etc/sysctl.d/9.conf", "line": 3}]
# Of each host what is different from a good one: the path and value of an observation, or the reason why there is none; variables.
FAULTS = {
    "gpu01": ("nics", NICS[:8], {}),
    "gpu02": ("nics", [dict(NICS[0], kind="virtual_function"), *NICS[1:7]], {}),
    "gpu03": ("nics", [dict(nic, name=f"ens{n + 5}") for n, nic in enumerate(NICS)], {}),
    "gpu04": ("nics", [dict(nic, addresses=nic["addresses"] if n else []) for n, nic in enumerate(NICS)], {}),
    "gpu05": ("nics", [dict(nic, primary=None) for nic in NICS], {}),
    "gpu06": ("gpus.count", 7, {"taco_interface": "bond0"}),
    "gpu07": ("gpus", NO_GPU, {"container_engine_install": False}),
    "gpu08": ("gpus.source", "pci", {"taco_instance_type": "GT4.20XLARGE474"}),
    "gpu09": ("disk.engine_free_bytes", 10 * GIB, {"taco_image": "B"}),
    "gpu10": ("disk.engine_free_bytes", 11 * GIB, {"taco_image": "a/b"}),
    "gpu11": ("container_engine", None, {"container_engine_install": False}),
    "gpu12": ("container_engine", None, {"eni_cuont": 7}),
    "gpu13": ("os", ALPINE, {"taco_gpu_per_node": 4}),
    "gpu14": ("os.version_id", "16.04", {"taco_gpus": 8, "hugepage_count": 50}),
    "gpu15": ("boot", {"layout": "unknown", "firmware": "efi", "reason": "no GRUB is installed"}, {}),
    "gpu16": ("cpu", {"count": 8, "page_1g": False, "page_2m": True}, {"hugepages_count": "fifty"}),
    "gpu17": ("hugepages.sysctl", SYSCTL, {"taco_gpus_per_node": None}),
    "gpu18": (SSH + "ssh: connect to host gpu18 port 22: Connection refused", None, {}),
    "gpu19": (SSH + "root@gpu19: Permission denied (publickey).", None, {"eni_subnets": ["10.0.1.0/33"]}),
    "gpu20": ("The module interpreter '/no/such/python3' was not found.", None, {"benchmark_timeout": "soon"}),
}

# The hosts whose variables have the checksum of HARP's script.
SIGNED = [f"gpu{number:02}" for number in range(1, 12)]


def verdict_of(faults):
    options = Validator(all_options())
    defaults = {name: spec.get("default") for name, spec in options.specs.items()}
    hosts = {}
    for name, (path, value, changed) in faults.items():
        own = dict(defaults, **{**VARIABLES, **changed})
        own["harp_script_sha256"] = VARIABLES["harp_script_sha256"] if name in SIGNED else None
        seen = node(path, value) if " " not in path else None
        unknown = unknown_variables(list(own), prefixes(), options.specs)
        wrong = options.problems({key: one for key, one in own.items() if key in options.specs})
        hosts[name] = Host(seen, own, None if seen else path, unknown, {}, wrong)
    return judge(hosts, jmespath.search)


def test_the_table_of_20_hosts_with_many_faults_is_as_it_was_read_and_approved():
    verdict = verdict_of(FAULTS)
    text = table(verdict, "results/20260105T100000Z/verdict.json") + "\n"
    assert text == GOLDEN.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= WIDTH


def test_every_fault_of_every_host_is_in_the_table_and_each_host_has_one_short_line_besides():
    verdict = verdict_of(FAULTS)
    rows = table(verdict).split("\nWARNING")[0]
    for name, host in verdict["hosts"].items():
        for check in host["checks"]:
            assert check["status"] != "fail" or check["id"] in rows, (name, check)
    found = failures(verdict)
    assert {one["msg"] for one in found.values()} == {FAILED} and len(FAILED.splitlines()) == 1


def test_205_hosts_that_have_a_fault_each_in_another_way_take_six_rows():
    faults = {f"gpu{n:03}": ("disk.engine_free_bytes", n * GIB // 4, {}) for n in range(205)}
    text = table(verdict_of(faults))
    assert text.count("disk.free") == 6 and "200 more hosts" in text and len(text) < 6000


def test_several_wrong_variables_of_one_host_are_all_shown():
    wrong = {f"{one}_timeout": "soon" for one in ("benchmark", "harp", "reboot")}
    wrong |= dict.fromkeys(("taco_ssh_port", "hugepages_count", "mpijob_workers", "preflight_min_disk_gib"), "x")
    text = table(verdict_of({"gpu1": ("os.version_id", "22.04", wrong)}))
    assert [name for name in wrong if name not in text] == []

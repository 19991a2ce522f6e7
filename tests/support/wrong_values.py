# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""For every variable of every role, values that it must refuse."""

from hypothesis import strategies as st
from observed import VARIABLES

from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import RULES, all_options
from ansible_collections.taco.train.plugins.plugin_utils.variables.run_combinations import GROUPS
from ansible_collections.taco.train.plugins.plugin_utils.variables.validation import Validator

SPECS = all_options()
DEFAULTS = {name: spec.get("default") for name, spec in SPECS.items()}
GOOD = dict(DEFAULTS, **VARIABLES)
FLEET = (("gpu1", 8), ("gpu2", 8))
OPTIONS = Validator(SPECS, FLEET, GROUPS)

# Variables of which every text or list is right, and why. A new variable is added here or gets a rule in variables/rules.yml.
FREE = {
    "benchmark_options": "compared with the declaration of the workload",
    "benchmark_launcher": "a host, which can be one that is added later",
    "benchmark_exec_prefix": "any command that enters a container",
    "benchmark_pip_args": "arguments of pip",
    "benchmark_series": "set by roles that plan runs",
    "benchmark_job": "the result of another program",
    "taco_hosts": "a pattern of hosts, which Ansible itself reads",
    "taco_kubeconfig": "a path on another machine; kubernetes.api opens it",
    "taco_kube_context": "a name in the kubeconfig; kubernetes.api looks it up",
    "taco_kube_host": "any host",
    "taco_node_name": "compared with the nodes of the cluster by kubernetes.node",
    "taco_instance_type": "new types appear; instance.type warns of an unknown one",
    "taco_plan": "a path on the controller; the module plan reads it",
    "taco_results_dir": "any folder of the controller, relative or not",
    "compare_baseline": "compared with the names in compare_arms",
    "compare_workloads": "compared with the options of a run",
    "compare_against": "a path on the controller, which a later run can write",
    "compare_placement_role": "any role",
    "compare_placement_changes": "words for people",
    "container_engine_deb_suite": "suites are named by distributions",
    "container_engine_rpm_release": "releases are named by repositories",
    "harp_template": "a path that Ansible looks for in several folders",
    "harp_script_sha256": "judged by harp.checksum",
    "kubernetes_node_access": "options of kubernetes.core",
    "locate_boundaries": "compared with the variables of the hosts by the module locate",
    "mpijob_access": "options of kubernetes.core",
    "gpu_topology_access": "options of kubernetes.core",
    "preflight_skip": "compared with the checks before any is made",
    "preflight_extra_checks": "read by the module preflight itself",
    "preflight_known_variables": "names of variables of anybody's",
    "reboot_tasks_before": "a path that Ansible looks for in several folders",
    "reboot_tasks_after": "a path that Ansible looks for in several folders",
    "report_title": "words for people",
}
WORDS = st.from_regex(r"\A[a-z]{5,12}\Z").filter(lambda text: text not in ("false", "drop"))
NOT_NUMBERS = WORDS | st.sampled_from(["1.5.2", "0x", "8 GPUs", "--", "1,5"])
MAPPINGS = st.dictionaries(WORDS, st.integers(), min_size=1, max_size=2)
# By the kind of a rule, values of the right type that it must refuse.
NO_NAMES = st.sampled_from(["a b", "a/b", "-x", " "])
BAD = {
    "port": st.integers(max_value=0) | st.integers(min_value=65536),
    "share": st.floats(max_value=0, allow_nan=False) | st.floats(min_value=1.001, allow_nan=False),
    "inner share": st.floats(max_value=0, allow_nan=False) | st.floats(min_value=1, allow_nan=False),
    "above zero": st.floats(max_value=0, allow_nan=False) | st.sampled_from([float("nan"), float("inf")]),
    "at least 1": st.integers(max_value=0),
    "workers": st.integers(max_value=0) | st.integers(min_value=10001),
    "absolute path": WORDS | st.sampled_from(["/", "./x"]),
    "URL": WORDS | st.sampled_from(["htp://x/y", "https:/x", "http://a b"]),
    "URL or path": st.sampled_from(["ftp://host/x.sh", "s3://x/y", " "]),
    "URL or word": WORDS | st.sampled_from(["on", "ftp://x"]),
    "interface": NO_NAMES.filter(lambda text: text != "a/b"),
    "interfaces": NO_NAMES.filter(lambda text: text != "a/b"),
    "container": NO_NAMES,
    "image": st.sampled_from(["A B", "Training:1", "a:1:2", "a@sha256:12"]),
    "regular expression": st.sampled_from(["(", "[a", "*"]),
    "list of network": st.lists(
        WORDS | st.sampled_from(["10.0.1.0/33", "300.1.1.1", "fe80::/129"]), min_size=1, max_size=3
    ),
    "address": WORDS | st.integers(min_value=256).map(lambda number: f"10.0.0.{number}"),
    "namespace": st.sampled_from(["A", "a_b", "-a", "a" * 64]),
    "job": st.sampled_from(["A", "a_b", "1a", "a-", "a" * 60]),
    "amount": WORDS | st.sampled_from(["10GiB", "-1Gi", "0", "1 Gi"]),
    "size": WORDS.filter(lambda text: len(text) > 2) | st.sampled_from(["32gib", "-1g", "g"]),
    "list of ulimit": st.lists(WORDS | st.sampled_from(["memlock", "memlock=", "=1"]), min_size=1, max_size=2),
    "list of mount": st.lists(WORDS | st.sampled_from(["/a", "/a:b", ":/a", "/a:/b:ro:x"]), min_size=1, max_size=2),
    "list of pod mount": st.lists(WORDS | st.sampled_from(["/a", "/a:b", ":/a", "/a:/b:ro:x"]), min_size=1, max_size=2),
    "list of words": st.lists(st.sampled_from([[], [""], ["sync", {"a": 1}]]), min_size=1, max_size=2),
    "list of at least 1": st.lists(st.integers(max_value=0), min_size=1, max_size=3),
    "plan file": st.sampled_from(["plan.html", "/srv/plans/a.html", "plans/"]),
    "label": st.sampled_from(["a b", "a/b", "x" * 41, "../x"]),
    "argument": st.sampled_from(["-x", "--model", " "]),
    "words": st.lists(st.just(""), min_size=1, max_size=2),
    "texts": st.lists(st.sampled_from(["", " "]), min_size=1, max_size=2),
    "environment": st.sampled_from([{"1A": "x"}, {"A-B": "x"}, {"A B": "x"}, {"": "x"}]),
    "parameters": st.sampled_from([{"1a": "x"}, {"a b": "x"}, {"": "x"}]),
    "arm": WORDS
    | st.sampled_from([3, ["tcp"], {"name": "tcp"}, {"name": "A"}, {"nme": "x"}, {"name": "x", "plugin": "of"}]),
    "arms": st.sampled_from([["tcp", "nope"], ["tcp"], ["tcp", "tcp"], [3, 4]]),
    "hosts": st.sampled_from([[{"name": "a"}], [{"name": "a b", "slots": 1}], [{"name": "a", "slots": 0}]]),
    "LightCC": st.sampled_from([{"topk_ratio": 2}, {"topk": 1}, {"intra_size": 0}, {"two_d_allreduce": "maybe"}]),
    "GPUs": st.sampled_from([8, "some", ["x"], {"a": 1}, 1.5]),
    "batch": WORDS | st.sampled_from(["0", 0, -1, "0%", "101%", "1.5"]),
    "repeats": WORDS.filter(lambda text: text != "auto")
    | st.integers(max_value=3)
    | st.sampled_from([4.5, True, "3", [4]]),
    "failures": WORDS | st.sampled_from([-1, "101%", "1.5", "%"]),
    "number of files": WORDS | st.sampled_from(["0", "-1", "1.5", "per eni"]),
    "file name": WORDS | st.sampled_from(["a/ztcp.conf", "ztcp", "../ztcp0.conf"]),
    "SHA-256": WORDS | st.sampled_from(["0" * 64, "g" * 64, "0123456789abcdef", "ab" * 32]),
    "API version": st.sampled_from(["v3", "v1beta1"]),
    "network of the host": st.sampled_from(["hots", "bridge"]),
    "preset": st.sampled_from(["torch", "pps"]),
}


def of_wrong_type(name):
    """Values that have not the type of a variable."""
    spec = SPECS[name]
    kinds = {
        "int": NOT_NUMBERS | MAPPINGS | st.lists(st.integers()) | st.floats(0.1, 0.9) | st.booleans(),
        "float": NOT_NUMBERS | MAPPINGS | st.booleans(),
        "bool": WORDS | MAPPINGS | st.integers(min_value=2),
        "str": MAPPINGS | st.lists(st.integers(), min_size=1),
        "path": MAPPINGS | st.lists(st.integers(), min_size=1),
        "dict": WORDS | st.integers() | st.lists(st.integers(), min_size=1),
        "list": MAPPINGS,
        "raw": MAPPINGS,
    }
    elements = {
        "int": st.lists(NOT_NUMBERS, min_size=1, max_size=3),
        "dict": st.lists(WORDS | st.integers(), min_size=1, max_size=3),
        "str": st.lists(MAPPINGS, min_size=1, max_size=3),
        "list": st.lists(WORDS | st.integers(), min_size=1, max_size=3),
    }
    wrong = kinds[spec["type"]]
    if spec["type"] == "list" and spec.get("elements") in elements:
        wrong = wrong | elements[spec["elements"]]
    return wrong


def wrong_values(name):
    """Values that a variable can't have, by what is wrong with them: the type, then what the type allows."""
    spec = SPECS[name]
    wrong = [of_wrong_type(name)]
    if spec.get("choices"):
        wrong.append(WORDS.filter(lambda text: text not in spec["choices"]))
    elif name in RULES:
        wrong.append(BAD[RULES[name]])
    elif spec["type"] in ("int", "float"):
        wrong.append(st.integers(max_value=-1))
    return wrong

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A role that is used alone names its variable, the value, what is expected and the fix before it changes anything."""

import base64
import json
import re

import pytest
from playbook import COLLECTIONS
from played import check

ROLES = {path.name for path in (COLLECTIONS / "ansible_collections/taco/train/roles").iterdir()}
# These have nothing to check, or are the check.
OTHERS = {"common", "preflight", "report"}
GPUS = {"taco_gpus_per_node": 8}
NO_GPUS = "taco_gpus_per_node is not set; expected a GPU count of 1 or more; set taco_gpus_per_node to the number"
# Of each role its variables, and what the message has.
CASES = {
    "benchmark": ({}, [NO_GPUS, "or set benchmark_hosts"]),
    "compare": (
        dict(GPUS, compare_arms=["tcp", "nope"]),
        ["compare_arms: ['tcp', 'nope']; there is no arm 'nope': set compare_arms to one of taco, harp"],
    ),
    "container_engine": ({"container_engine_deb_url": "x"}, ["container_engine_deb_url: x; expected a URL"]),
    "eni": ({}, [NO_GPUS, "or set eni_count"]),
    "harp": ({}, ["harp_script_sha256 is not set for http", "set harp_script_sha256 to the output of sha256sum"]),
    "hugepages": ({}, [NO_GPUS, "or set hugepages_count"]),
    "kubernetes_node": (
        {
            "taco_platform": "tke",
            "kubernetes_node_grace": 0,
            "kubernetes_node_poll": 0,
            "kubernetes_node_access": {"api_key": "SECRET"},
        },
        [
            "kubernetes_node_poll: 0; expected a number above 0; correct kubernetes_node_poll; the default is 2",
            "kubernetes_node_grace: 0; expected a whole number, 1 or more; correct kubernetes_node_grace",
        ],
    ),
    "locate": ({}, [NO_GPUS, "or set benchmark_hosts"]),
    "mpijob": ({"taco_platform": "tke"}, [NO_GPUS, "or set mpijob_gpus_per_worker"]),
    "plan": (
        {"taco_container_name": "a b", "plan_file": "plan.html"},
        ["taco_container_name: a b; expected", "plan_file: plan.html; expected a path that doesn't end with .html"],
    ),
    "placement": ({"placement_arena": "-x"}, ["placement_arena: -x; expected a text that doesn't begin with a dash"]),
    "reboot": ({"reboot_timeout": 0}, ["reboot_timeout: 0; expected a whole number, 1 or more"]),
    "ssh_trust": ({"ssh_trust_port": 99999}, ["ssh_trust_port: 99999; expected a port from 1 to 65535"]),
    "gpu_topology": ({"gpu_topology_nodes": [" "]}, ["gpu_topology_nodes: [' ']; expected"]),
    "training_container": (
        {"taco_image": None, "training_container_environment": {"A B": "SECRET"}},
        [
            "taco_image: null; expected registry/name:tag",
            "training_container_environment: a mapping, not shown; expected",
        ],
    ),
}
# Of these the values must make no difference, as what is asked for doesn't need them.
PASSING = [
    ("eni", {"harp_source": "none", "taco_image": "B", "taco_ssh_port": 99999}),
    ("eni", dict(GPUS, taco_image=[1], taco_ssh_port="x", taco_lab="perhaps", reboot_timeout=[])),
    ("hugepages", {"hugepages_state": "absent", "hugepages_max_memory_fraction": 2, "taco_image": {"a": 1}}),
]


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """Return by role what it failed with, all of them in one play."""
    tasks = []
    for role, variables in [(role, variables) for role, (variables, _words) in CASES.items()] + PASSING:
        found = "{{ found | default([]) + [[role, ansible_failed_result.msg]] }}"
        rescue = [{"ansible.builtin.set_fact": {"found": found}}]
        include = [{"ansible.builtin.include_role": {"name": "taco.train." + role}}]
        tasks.append({"vars": dict(variables, role=role), "block": include, "rescue": rescue})
    tasks.append({"ansible.builtin.debug": {"msg": "<{{ found | to_json | b64encode }}>"}})
    folder = tmp_path_factory.mktemp("roles")
    play = json.dumps([{"name": "Use each role alone", "hosts": "all", "gather_facts": False, "tasks": tasks}])
    status, output = check(folder, play, {"gpu1": {}}, {"taco_results_dir": str(folder / "results")})
    assert status == 0, output
    return json.loads(base64.b64decode(re.search(r'"msg": "<([A-Za-z0-9+/=]+)>"', output)[1]))


def test_every_role_has_a_case():
    assert set(CASES) == ROLES - OTHERS


@pytest.mark.parametrize("role", CASES)
def test_a_role_used_alone_names_its_variable_the_value_and_the_fix(messages, role):
    (text, *_others) = [text for name, text in messages if name == role]
    assert text.startswith(f"gpu1: the role taco.train.{role} can't run with these values of its variables.\n")
    assert [word for word in CASES[role][1] if word not in text] == [], text
    assert "argument" not in text and "SECRET" not in text


@pytest.mark.parametrize("role", sorted({role for role, _variables in PASSING}))
def test_values_that_make_no_difference_are_not_refused(messages, role):
    texts = [text for name, text in messages if name == role]
    # The first is that of the case above.
    refusals = ("can't run with these values", "Validation of arguments")
    assert not [text for text in texts[1:] if any(words in text for words in refusals)], texts


@pytest.mark.parametrize(
    ("role", "variables", "words"),
    [
        ("eni", {"taco_gpus_per_node": 8, "eni_subnets": ["x"]}, "eni_subnets: ['x']; expected networks such as"),
        (
            "hugepages",
            {"taco_gpus_per_node": 8, "hugepages_count": "fifty"},
            "hugepages_count: fifty; expected a whole number",
        ),
        ("container_engine", {"container_engine_deb_url": "x"}, "container_engine_deb_url: x; expected a URL"),
    ],
)
def test_a_role_used_alone_is_refused_before_its_host_is_touched(tmp_path, role, variables, words):
    away = {"taco_node": None, "ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 9}
    play = json.dumps([{"hosts": "all", "gather_facts": False, "roles": ["taco.train." + role]}])
    status, output = check(tmp_path, play, {"gpu1": away}, dict(variables, taco_results_dir=str(tmp_path)))
    assert status == 2 and words in output and "UNREACHABLE" not in output, output

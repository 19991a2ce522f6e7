# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan names what its changes rest on, groups equal hosts, and is refused as a file that is not what was written."""

import copy
import json
import random

import jsonschema
import pytest
from guides import COLLECTION
from planned import VARIABLES, fleet, node, results

from ansible_collections.taco.train.plugins.plugin_utils.plan import page, wording
from ansible_collections.taco.train.plugins.plugin_utils.plan.change import Difference
from ansible_collections.taco.train.plugins.plugin_utils.plan.collect import (
    applied_differences,
    changes_of,
    differences,
)
from ansible_collections.taco.train.plugins.plugin_utils.plan.forecast import forecast
from ansible_collections.taco.train.plugins.plugin_utils.plan.group import grouped, own_values
from ansible_collections.taco.train.plugins.plugin_utils.plan.roles import ROLES
from ansible_collections.taco.train.plugins.plugin_utils.plan.store import (
    Plan,
    PlanError,
    change_of_document,
    document,
    read,
    render,
    require_same_fleet,
    whole_change,
)

NO_REBOOT = {"batches": [], "seconds": 0, "basis": "none"}
CHANGES = changes_of(results(), node(), VARIABLES)
# Facts that no rule of a role reads.
IRRELEVANT = (
    "memory.available_bytes",
    "disk.root_free_bytes",
    "kernel.release",
    "kernel.boot_id",
    "gpus.driver_version",
)


def plan(hosts=None, of="site"):
    hosts = {"gpu1": tuple(CHANGES)} if hosts is None else hosts
    return Plan(of, "1.0.0", "2026-11-24T10:00:00Z", hosts, {host: host for host in hosts}, NO_REBOOT)


def replaced(value, path, new):
    """A copy in which the value at a dotted path is another one."""
    changed = copy.deepcopy(value)
    *parents, last = path.split(".")
    inner = changed
    for parent in parents:
        inner[parent] = inner[parent] or {}
        inner = inner[parent]
    inner[last] = new
    return changed


def test_a_change_for_each_role_that_changes_in_the_order_in_which_they_run():
    assert [change.role for change in CHANGES] == ["hugepages", "reboot", "harp", "training_container", "ssh_trust"]
    pages = CHANGES[0]
    assert pages.what == "reserve 50 pages of 1G in the boot configuration"
    assert "no pages of this collection are reserved" in pages.reason and "taco_gpus_per_node is 8" in pages.reason
    assert CHANGES[1].interrupts == ("reboot of the host",)
    assert pages.facts["file /etc/default/grub.d/zz-taco-hugepages.cfg"] == "absent"
    assert pages.facts["taco_node.memory.total_bytes"] == node()["memory"]["total_bytes"]


def test_passwords_are_in_no_plan():
    assert "geheim" not in render(plan()) and "geheim" not in wording.render(plan(), grouped({"gpu1": CHANGES}, {}))


def test_a_container_that_runs_is_recreated_and_its_processes_end():
    observed = dict(node(), training_container={"name": "taco-train", "status": "running", "image": "old:1"})
    change = changes_of({"training_container": {"changed": True, "diff": {}}}, observed, VARIABLES)[0]
    assert change.what == "recreate the container taco-train"
    assert change.interrupts == ("container taco-train with its processes",)
    assert "running from old:1" in change.reason


def test_what_depends_on_a_change_is_known_after_apply():
    bare = dict(node(), container_engine=None)
    found = {
        change.role: change
        for change in changes_of(
            {
                "container_engine": {"changed": True, "msg": ["Docker Engine"]},
                "training_container": {"changed": True},
                "ssh_trust": {"changed": True, "files": [], "server": "started"},
            },
            bare,
            VARIABLES,
        )
    }
    assert found["container_engine"].what == "install Docker Engine"
    for role in found:
        assert found[role].later and found[role].later[0].reason, role


def relevant(random_source):
    """(node, variables, results, name) with one thing changed that a planned change rests on."""
    change = random_source.choice(CHANGES)
    name = random_source.choice(sorted(change.facts))
    new = random_source.choice(["other", 4711, ["other"], {"other": 1}])
    observed, variables, decided = node(), dict(VARIABLES), results()
    if name.startswith("taco_node."):
        path = name[len("taco_node.") :]
        if "*" in path:
            before, _star, after = path.partition(".*.")
            items = observed[before] if before != "hugepages.pools" else observed["hugepages"]["pools"]
            random_source.choice(items)[after] = new
        else:
            # Of the pages that are reserved, the observation always has both.
            new = {"count": 4, "page_size": "2M"} if path == "boot.hugepages" else new
            observed = replaced(observed, path, new)
    elif name.startswith("file "):
        part = next(
            one
            for result in decided.values()
            for one in (result.get("diff") or [])
            if isinstance(one, dict) and one["before_header"] == name[len("file ") :]
        )
        part["before"] += "an edit\n"
    else:
        variables[name] = new
    return observed, variables, decided, name


def test_500_of_500_relevant_mutations_are_refused_and_named():
    source = random.Random(7)
    for number in range(500):
        observed, variables, decided, name = relevant(source)
        found = differences(CHANGES, changes_of(decided, observed, variables), observed, variables)
        assert name in {one.name for one in found}, (number, name, found)
        message = wording.refusal("gpu1", "plan.json", found)
        assert "gpu1" in message and f"{name}: in the plan " in message and ", now " in message


def test_0_of_500_irrelevant_mutations_are_refused():
    source = random.Random(8)
    only_pages = [change for change in CHANGES if change.role in ("hugepages", "reboot")]
    decided = {role: result for role, result in results().items() if role in ("hugepages", "reboot")}
    others = sorted({path for role in ("training_container", "ssh_trust") for path in ROLES[role].facts})
    for number in range(500):
        path = source.choice([*IRRELEVANT, *others])
        observed = replaced(node(), path, source.choice(["other", 4711]))
        found = differences(only_pages, changes_of(decided, observed, VARIABLES), observed, VARIABLES)
        assert found == [], (number, path, found)


def test_a_change_that_the_plan_does_not_have_is_named():
    planned = [change for change in CHANGES if change.role != "harp"]
    found = differences(planned, CHANGES, node(), VARIABLES)
    assert found == [Difference("change of the role harp", "none", "write HARP's configuration and the host manifest")]


def test_other_content_of_a_file_is_named_with_its_lines():
    decided = results()
    decided["harp"]["diff"][0]["after"] = "hostname: gpu1\naddress: 10.9.9.9\n"
    found = differences(CHANGES, changes_of(decided, node(), VARIABLES), node(), VARIABLES)
    assert found == [
        Difference("new content of /var/lib/taco-train/host-manifest.json", "address: 10.0.1.8", "address: 10.9.9.9")
    ]


def test_what_was_applied_is_compared_with_the_plan():
    assert applied_differences(CHANGES, changes_of(results(), node(), VARIABLES)) == []
    other = results()
    other["hugepages"]["diff"][0]["after"] = "hugepages=60\n"
    other["ssh_trust"] = {"changed": False}
    found = applied_differences(CHANGES, changes_of(other, node(), VARIABLES))
    assert [one.name for one in found] == [
        "new content of /etc/default/grub.d/zz-taco-hugepages.cfg",
        "change of the role ssh_trust",
    ]
    message = wording.mismatch("gpu1", "plan.json", found)
    assert "planned hugepages=50; applied hugepages=60" in message


def test_the_start_of_a_container_that_is_created_is_no_difference():
    started = results()
    started["training_container"]["diff"] = {
        "before": {"exists": False, "running": False},
        "after": {"exists": True, "running": True, "env": {}},
    }
    assert applied_differences(CHANGES, changes_of(started, node(), VARIABLES)) == []
    stopped = {
        "training_container": {"changed": True, "diff": {"before": {"running": False}, "after": {"running": True}}}
    }
    assert "running" in changes_of(stopped, node(), VARIABLES)[0].parts[0].after


def test_200_hosts_in_4_kinds_are_exactly_4_entries_and_what_differs_by_host_is_shown():
    entries = grouped(*fleet(200))
    assert [len(entry.hosts) for entry in entries] == [50, 50, 50, 50]
    entry = next(entry for entry in entries if "gpu-004" in entry.hosts)
    assert "hostname: <host>\naddress: <address1>\nkind: 0\n" in {part.after for part in entry.change.parts}
    assert entry.own["gpu-004"] == {"host": "gpu-004", "address1": "10.0.1.4"}
    assert "gpu-004: host gpu-004, address1 10.0.1.4" in "\n".join(wording.entry_lines(entry))


def test_a_list_of_all_hosts_is_no_difference_between_them():
    hosts = {
        host: changes_of({"ssh_trust": results()["ssh_trust"]}, node(host), VARIABLES) for host in ("gpu1", "gpu2")
    }
    entries = grouped(hosts, {host: own_values(host, node(host)) for host in hosts})
    assert len(entries) == 1 and not entries[0].own


def test_a_plan_is_valid_by_its_schema_and_read_as_it_was_written():
    written = plan()
    schema = json.loads((COLLECTION / "docs/schemas/plan-1.json").read_text())
    jsonschema.validate(document(written), schema)
    found = read(render(written), "plan.json")
    assert found.hosts["gpu1"] == written.hosts["gpu1"] and found.reboots == NO_REBOOT
    assert [change_of_document(json.loads(json.dumps(whole_change(change)))) for change in CHANGES] == CHANGES


def edited(**values):
    return json.dumps({**json.loads(render(plan())), **values})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "plan.json is empty"),
        (render(plan())[:-200], "plan.json is truncated"),
        ("[]", "is not a plan of taco.train"),
        ('{"changed": true}', "is not a plan of taco.train"),
        (edited(schema=2), "has schema 2, expected 1"),
        (edited(changes=0), "was edited after it was written"),
        (render(plan()).replace("hugepages=50", "hugepages=60"), "was edited after it was written"),
    ],
)
def test_a_file_that_is_not_what_was_written_is_refused(text, words):
    with pytest.raises(PlanError) as refused:
        read(text, "plan.json")
    assert words in str(refused.value) and "taco.train.plan" in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rollback", "1.0.0", ["gpu1"], {"gpu1": "gpu1"}), "is a plan of the playbook site, expected rollback"),
        (("site", "1.1.0", ["gpu1"], {"gpu1": "gpu1"}), "was created by taco.train 1.0.0, this is taco.train 1.1.0"),
        (("site", "1.0.0", ["gpu2"], {"gpu2": "gpu2"}), "is of another inventory, which has gpu1"),
        (("site", "1.0.0", ["gpu1"], {"gpu1": "10.0.0.9"}), "gpu1 has the address 10.0.0.9, in the plan gpu1"),
    ],
)
def test_a_plan_of_another_fleet_is_refused(arguments, words):
    with pytest.raises(PlanError) as refused:
        require_same_fleet(plan(), "plan.json", *arguments)
    assert words in str(refused.value)


def test_other_hosts_of_the_inventory_do_not_matter():
    require_same_fleet(plan(), "plan.json", "site", "1.0.0", ["gpu1", "web1"], {"gpu1": "gpu1"})


def test_the_forecast_is_that_of_the_earlier_reboots_of_the_hosts():
    assert forecast([["a"], ["b"]], {}, 300)[1:] == (600, "reboot_boot_seconds is 300; no earlier reboot is recorded")
    found = forecast([["a", "b"], ["c"]], {"a": [100], "b": [200, 220]}, 300)
    assert found.seconds == 210 + 200 and found.basis == "3 earlier reboots of 2 hosts"


def test_an_empty_plan_says_so():
    assert wording.render(plan({"gpu1": ()}), []) == "No change: 1 host as required."


def test_the_page_has_every_entry_and_needs_nothing_beside_it():
    entries = grouped(*fleet(8))
    drawn = page.render(plan(dict(fleet(8)[0])), entries)
    assert drawn.count("<section>") == 2 + len(entries) and "http" not in drawn
    assert '<span class="added">+kind: 0</span>' in drawn and "&lt;host&gt;" in drawn

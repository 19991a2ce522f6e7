# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A plan names what its changes rest on, groups equal hosts, and is printed and drawn."""

import pytest
from planned import CHANGES, fleet, node, plan, results

from ansible_collections.taco.train.plugins.plugin_utils.plan import page, wording
from ansible_collections.taco.train.plugins.plugin_utils.plan.change import Difference
from ansible_collections.taco.train.plugins.plugin_utils.plan.collect import (
    applied_differences,
    changes_of,
    differences,
)
from ansible_collections.taco.train.plugins.plugin_utils.plan.forecast import forecast
from ansible_collections.taco.train.plugins.plugin_utils.plan.group import grouped, own_values
from ansible_collections.taco.train.plugins.plugin_utils.plan.store import (
    render,
)
from ansible_collections.taco.train.plugins.plugin_utils.report.render import html


def test_a_change_for_each_role_that_changes_in_the_order_in_which_they_run():
    roles = ["hugepages", "reboot", "harp", "training_container", "ssh_trust", "benchmark"]
    assert [change.role for change in CHANGES] == roles
    assert "the boot configuration has no hugepages" in CHANGES[0].reason
    assert CHANGES[1].interrupts == ("reboot of the host",) and not any(change.later for change in CHANGES)
    assert CHANGES[5].reason == "found: /var/lib/taco-train/logs"


def test_passwords_are_in_no_plan():
    assert "geheim" not in render(plan()) and "geheim" not in wording.render(plan(), grouped({"gpu1": CHANGES}, {}))


@pytest.mark.parametrize("password", ["user:geheim", "user:at@geheim", "user:a:geheim"])
def test_passwords_in_addresses_are_in_no_plan(password):
    decided = results()
    decided["harp"]["diff"][0]["after"] = f"deb https://{password}@example.com/apt x@y/\n"
    text = changes_of(decided)[2].parts[0].after
    assert "geheim" not in text and "@example.com/apt x@y/" in text


def test_what_check_mode_cannot_know_is_known_after_apply_with_its_reason():
    message = {"reason": "missing: Docker Engine", "interrupts": [], "diff": [{"prepared": "docker-ce\n"}]}
    found = changes_of(
        {
            "harp": {"changed": True, "reason": "it has not run before", "diff": [{"prepared": "the script runs\n"}]},
            "container_engine": {"changed": True, "msg": message},
            "training_container": {"changed": True, "msg": "The container would be started, but there is no engine."},
            "ssh_trust": [{"changed": True, "reason": "no keys"}, {"changed": True, "reason": "no keys", "diff": []}],
        }
    )
    reasons = {change.role: change.later[0].reason for change in found}
    assert reasons == {
        "harp": "HARP's setup script writes them when it runs",
        "container_engine": "the package repository is read when they are installed",
        "training_container": "no Docker Engine runs yet",
        "ssh_trust": "keys are created when the plan is applied",
    }
    assert [change.reason for change in found[1:]] == [
        "missing: Docker Engine",
        "The container would be started, but there is no engine.",
        "no keys",
    ]
    applied = [change._replace(later=(), parts=CHANGES[0].parts) for change in found]
    assert applied_differences(found, applied) == []
    assert [one.name for one in applied_differences(found, applied[1:])] == ["change of the role harp"]
    # The server is started again in a container that is recreated.
    container, trust = CHANGES[3], CHANGES[4]
    assert applied_differences([container], [container, trust]) == []
    assert len(applied_differences([], [trust])) == len(applied_differences([container, trust], [container])) == 1


def test_a_change_that_the_plan_does_not_have_is_named():
    planned = [change for change in CHANGES if change.role != "harp"]
    found = differences(planned, CHANGES)
    assert found == [Difference("change of the role harp", "none", "1 file differs from source template")]


def test_other_content_of_a_file_is_named_with_its_lines():
    decided = results()
    decided["harp"]["diff"][0]["after"] = "hostname: gpu1\naddress: 10.9.9.9\n"
    found = differences(CHANGES, changes_of(decided))
    assert found == [
        Difference("new content of /var/lib/taco-train/host-manifest.json", "address: 10.0.1.8", "address: 10.9.9.9")
    ]


@pytest.mark.parametrize("text", ["hugepages=50\r\n", "hugepages=50"])
def test_other_ends_of_lines_are_named_by_checksums(text):
    decided = results()
    decided["hugepages"]["diff"][0]["after"] = text
    found = differences(CHANGES, changes_of(decided))
    assert len(found) == 1 and found[0].then.startswith("sha256 ") and found[0].then != found[0].now


def test_each_part_of_an_object_counts():
    decided = results()
    decided["hugepages"]["diff"].append(dict(decided["hugepages"]["diff"][1]))
    planned = changes_of(decided)
    decided["hugepages"]["diff"][1]["after"] = "quiet hugepages=60\n"
    found = differences(planned, changes_of(decided))
    assert [difference.name for difference in found] == ["new content of kernel line of the boot entries"]


def test_what_was_applied_is_compared_with_the_plan():
    assert applied_differences(CHANGES, changes_of(results())) == []
    other = results()
    other["hugepages"]["diff"][0]["after"] = "hugepages=60\n"
    other["benchmark"] = [{"changed": False}]
    found = applied_differences(CHANGES, changes_of(other))
    assert [one.name for one in found] == [
        "new content of /etc/default/grub.d/zz-taco-hugepages.cfg",
        "change of the role benchmark",
    ]
    message = wording.mismatch("gpu1", "plan.json", found)
    assert "planned hugepages=50; applied hugepages=60" in message


def test_a_long_line_is_shown_from_the_first_difference_on():
    found = [Difference("new content of grub", "quiet " * 99 + "hugepages=50 " + "a" * 999, "quiet " * 99 + "b")]
    message = wording.refusal("gpu1", "plan.json", found)
    assert (
        "in the plan ...t quiet quiet quiet hugepages=50 aa" in message
        and ", now ...t quiet quiet quiet b\n" in message
    )
    assert len(message) < 600


def test_the_start_of_a_container_that_is_created_is_no_difference():
    started = results()
    started["training_container"]["diff"] = {
        "before_header": "container",
        "before": {"exists": False, "running": False},
        "after": {"exists": True, "running": True, "env": {"TOKEN": "geheim"}},
    }
    assert applied_differences(CHANGES, changes_of(started)) == []
    stopped = {
        "training_container": {"changed": True, "diff": {"before": {"running": False}, "after": {"running": True}}}
    }
    assert "running" in changes_of(stopped)[0].parts[0].after


def test_200_hosts_in_4_kinds_are_exactly_4_entries_and_what_differs_by_host_is_shown():
    entries = grouped(*fleet(200))
    assert [len(entry.hosts) for entry in entries] == [50, 50, 50, 50]
    entry = next(entry for entry in entries if "gpu-004" in entry.hosts)
    assert "hostname: <host>\naddress: <address1>\nkind: 0\n" in {part.after for part in entry.change.parts}
    assert entry.own["gpu-004"] == {"host": "gpu-004", "address1": "10.0.1.4"}
    assert "gpu-004: host gpu-004, address1 10.0.1.4" in "\n".join(wording.entry_lines(entry))


def test_each_value_of_a_host_has_a_name_of_its_own():
    observed = dict(node("name-of-the-host"), nics=[{"addresses": ["10.0.0.1/24", "10.0.0.2/24", "fe80::1/64"]}])
    observed["gpus"] = {"devices": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}]}
    names = own_values("gpu1", observed)
    assert len(set(names.values())) == len(names) == 7
    assert names["10.0.0.1"] == "address0" and names["10.0.0.2"] == "address0_1"


def test_a_list_of_all_hosts_is_no_difference_between_them():
    hosts = {host: changes_of({"ssh_trust": results()["ssh_trust"]}) for host in ("gpu1", "gpu2")}
    entries = grouped(hosts, {host: own_values(host, node(host)) for host in hosts})
    assert len(entries) == 1 and not entries[0].own


def test_the_forecast_is_that_of_the_earlier_reboots_of_the_hosts():
    assert forecast([["a"], ["b"]], {}, 300)[1:] == (600, "reboot_boot_seconds is 300; no earlier reboot is recorded")
    found = forecast([["a", "b"], ["c"]], {"a": [100], "b": [200, 220]}, 300)
    assert found.seconds == 210 + 200 and found.basis == "3 earlier reboots of 2 hosts"


def test_an_empty_plan_says_so():
    assert wording.render(plan({"gpu1": ()}), []) == "No change: 1 host as required."


def test_the_page_has_the_number_of_changes_once():
    one = {"gpu1": CHANGES[:1]}
    assert '<p class="lead">1 change on 1 of 1 host, in 1 entry.</p>' in html(
        page.document(plan(one), grouped(one, {}))
    )


def test_the_page_has_every_entry_and_needs_nothing_beside_it():
    entries = grouped(*fleet(8))
    drawn = html(page.document(plan(dict(fleet(8)[0])), entries))
    assert drawn.count("<section>") == 2 + len(entries) and "http" not in drawn
    assert '<span class="added">+kind: 0</span>' in drawn and "&lt;host&gt;" in drawn

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a summary says of each host, and how it is shown."""

from types import SimpleNamespace

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.summary.table import render
from ansible_collections.taco.train.plugins.plugin_utils.summary.tally import Outcome, Tally, message, verdicts

VERDICT = {
    "hosts": {
        "gpu1": {"checks": [{"id": "eni.count", "status": "fail"}, {"id": "disk.free", "status": "warn"}]},
        "gpu2": {"checks": [{"id": "eni.count", "status": "pass"}, {"id": "disk.free", "status": "warn"}]},
        "gpu3": {"checks": [{"id": "eni.count", "status": "pass"}, {"id": "disk.free", "status": "skip"}]},
    },
    "fleet": [],
}


def nothing_written(path):
    return None


def tally():
    return Tally(nothing_written)


def only(outcomes):
    assert len(outcomes) == 1
    return outcomes[0]


def text(outcomes, width=100, check=False):
    return "\n".join(line.text for line in render(outcomes, width, check))


def test_changes_are_named_by_roles_each_once_and_else_by_tasks():
    seen = tally()
    seen.take("gpu1", "Reserve pages", "taco.train.hugepages", {"changed": True})
    seen.take("gpu1", "Copy", "site.motd", {"changed": True})
    seen.take("gpu1", "Again", "taco.train.hugepages", {"changed": True})
    seen.take("gpu1", "Say hello", None, {"changed": True})
    seen.take("gpu1", "Look", None, {"changed": False})
    assert only(seen.outcomes(["gpu1"], [])).changed == ("hugepages", "site.motd", "Say hello")


@pytest.mark.parametrize(
    "results, pending",
    [
        ([{"reboot_required": True}], ("reboot",)),
        ([{"reboot_required": False}], ()),
        ([{"reboot_required": True}, {"rebooted": True}], ()),
        ([{"reboot_required": True}, {"rebooted": False}], ("reboot",)),
        ([{"ansible_facts": {"taco_boot": {"reboot_required": True}}}], ("reboot",)),
        # Before ansible-core 2.19, what went through a template may have become text.
        ([{"ansible_facts": {"taco_boot": {"reboot_required": "True"}}}], ("reboot",)),
        ([{"reboot_required": True}, {"ansible_facts": {"taco_boot": {"reboot_required": False}}}], ()),
        ([{"reboot_required": True}, {"changed": True}], ("reboot",)),
        ([{"ansible_facts": {"taco_boot": "nonsense"}}], ()),
    ],
)
def test_a_reboot_is_pending_until_it_was_done(results, pending):
    seen = tally()
    for result in results:
        seen.take("gpu1", "Task", None, result)
    assert only(seen.outcomes(["gpu1"], [])).pending == pending


def test_the_verdict_names_the_worst_checks_of_each_host():
    told = {"failed_hosts": ["gpu1"], "verdict_path": None, "verdict": VERDICT}
    assert verdicts(told, nothing_written) == {"gpu1": "fail: eni.count", "gpu2": "warn: disk.free", "gpu3": "pass"}


def test_what_concerns_all_hosts_is_said_of_each():
    verdict = dict(VERDICT, fleet=[{"id": "cluster.same_gpus", "status": "fail"}])
    told = verdicts({"failed_hosts": [], "verdict_path": None, "verdict": verdict}, nothing_written)
    assert told["gpu1"] == "fail: eni.count, cluster.same_gpus" and told["gpu3"] == "fail: cluster.same_gpus"


def test_a_failed_verdict_is_read_from_its_file_and_without_one_names_the_hosts():
    failed = {"failed_hosts": ["gpu1"], "verdict_path": "results/verdict.json", "failed": True}
    assert verdicts(failed, {"results/verdict.json": VERDICT}.get)["gpu2"] == "warn: disk.free"
    assert verdicts(failed, nothing_written) == {"gpu1": "fail"}
    assert verdicts({"changed": True}, nothing_written) == {}


@pytest.mark.parametrize(
    "result, said",
    [
        ({"msg": "gpu1: no\n  ENI"}, "gpu1: no ENI"),
        ({"msg": "Preflight: 2 failures\n\nFAILED\nHOST"}, "Preflight: 2 failures"),
        ({"msg": ["one", "two"]}, "one two"),
        ({"msg": "", "stderr": "no such file"}, "no such file"),
        ({"msg": "One or more items failed", "results": [{"msg": "fine"}, {"failed": True, "msg": "bad"}]}, "bad"),
        ({"censored": "the output has been hidden"}, "the output has been hidden"),
        ({"msg": "MODULE FAILURE", "module_stderr": "sudo: not found\n\nmore"}, "MODULE FAILURE: sudo: not found"),
        ({"msg": "", "exception": SimpleNamespace(event=SimpleNamespace(msg="Timed out."))}, "Timed out."),
        ({}, "no message"),
    ],
)
def test_why_a_task_failed_is_its_first_paragraph(result, said):
    assert message(result) == said


def test_a_failure_from_which_a_play_recovered_is_none():
    seen = tally()
    seen.fail("gpu1", "Try", {"msg": "bad"})
    seen.fail("gpu2", "Reach", {"msg": "no route to host", "unreachable": True})
    saved, lost = seen.outcomes(["gpu1", "gpu2"], ["gpu2"])
    assert saved.failure == "" and lost.failure == "Reach: unreachable: no route to host"


def test_the_table_of_a_few_hosts():
    outcomes = [
        Outcome("gpu1", ("hugepages", "ssh_trust"), ("reboot",), "warn: hugepages.running"),
        Outcome("gpu2", (), (), "fail: eni.count", "Count ENIs: gpu2: 3 of 8 ENIs: attach 5, or correct eni_count"),
        Outcome("gpu3", verdict="pass"),
    ]
    assert text(outcomes, width=72).splitlines() == [
        "Summary of 3 hosts: 1 failed, 1 changed, 1 with something pending.",
        "",
        "HOST  CHANGED               PENDING  VERDICT",
        "----  --------------------  -------  -----------------------",
        "gpu1  hugepages, ssh_trust  reboot   warn: hugepages.running",
        "gpu2  nothing               -        fail: eni.count",
        "gpu3  nothing               -        pass",
        "",
        "FAILED",
        "gpu2: Count ENIs: gpu2: 3 of 8 ENIs: attach 5, or correct eni_count",
    ]
    assert [line.kind for line in render(outcomes, 72)][4:7] == ["changed", "bad", "good"]


def test_the_first_failure_of_a_host_is_shown_without_its_name():
    seen = tally()
    seen.fail("gpu1", "Configure HARP", {"msg": "gpu1: no script: set harp_script"})
    seen.fail("gpu1", "Clean up", {"msg": "no such container"})
    assert only(seen.outcomes(["gpu1"], ["gpu1"])).failure == "Configure HARP: no script: set harp_script"


def test_a_failure_that_was_rescued_is_not_shown_for_a_later_one():
    seen = tally()
    seen.fail("gpu1", "Try", {"msg": "bad"})
    seen.rescue("gpu1")
    assert only(seen.outcomes(["gpu1"], ["gpu1"])).failure == "Try: bad"
    seen.fail("gpu1", "Reboot", {"msg": "no boot in 600 s"})
    seen.fail("gpu1", "Say so", {"msg": "stopped"})
    assert only(seen.outcomes(["gpu1"], ["gpu1"])).failure == "Reboot: no boot in 600 s"


def test_hosts_with_the_same_failure_share_it_and_its_fix_is_never_cut():
    fix = "set harp_script_sha256 to the output of sha256sum"
    outcomes = [Outcome(f"gpu{n}", failure=f"HARP: no checksum, expected one: {fix}") for n in range(1, 17)]
    outcomes += [Outcome(f"odd{n}", failure="HARP: no route") for n in (1, 2)]
    lines = text(outcomes, width=44).splitlines()
    failed = lines[lines.index("FAILED") + 1 :]
    assert failed == [
        "gpu1 and 15 more: HARP: no checksum,",
        "  expected one: set harp_script_sha256 to",
        "  the output of sha256sum",
        "odd1, odd2: HARP: no route",
    ]


def test_of_an_endless_failure_the_beginning_and_the_end_are_shown():
    lines = text([Outcome("gpu1", failure=" ".join(map(str, range(2000))))], width=80).splitlines()
    assert len(lines) < 30 and lines[-1].endswith("1999") and "  ..." in lines and max(map(len, lines)) <= 80


def test_the_path_of_the_latest_report_is_the_last_line_and_never_broken():
    seen = tally()
    for name in ("b", "a" * 99, "b"):
        seen.report(f"/results/{name}/report.html")
    lines = render([Outcome("gpu1")], 40, False, seen.reports())
    assert [line.text for line in lines][-3:] == [
        "",
        f"Report: /results/{'a' * 99}/report.html",
        "Report: /results/b/report.html",
    ]


def test_on_a_narrow_terminal_cells_take_more_lines_and_failures_too():
    outcomes = [
        Outcome("a-very-long-name-of-a-host", ("hugepages", "ssh_trust"), ("reboot",), "pass", "Task: " + "why " * 30)
    ]
    lines = text(outcomes, width=44).splitlines()
    assert max(map(len, lines)) <= 44
    assert "hugepages," in text(outcomes, width=44) and " ".join(lines).count("why") == 30


def test_check_mode_says_what_would_change():
    shown = text([Outcome("gpu1", ("hugepages",))], check=True)
    assert "1 would change" in shown and "WOULD CHANGE" in shown


def test_many_hosts_of_which_the_same_is_said_share_a_line():
    many = [Outcome(f"gpu{n}", ("hugepages",), ("reboot",), "pass") for n in range(200)]
    many[7] = many[7]._replace(failure="Task: bad", changed=())
    shown = text(many)
    assert "gpu0 and 198 more" in shown and "gpu7: Task: bad" in shown
    assert len(shown.splitlines()) < 12


def test_no_hosts_are_not_summed_up_and_nothing_is_said_to_be_nothing():
    assert render([], 80) == []
    assert text([Outcome("gpu1")]).startswith("Summary of 1 host: nothing to do, nothing failed.")

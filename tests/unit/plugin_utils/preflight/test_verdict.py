# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All hosts are judged at once, and the table holds everything that is wrong."""

import jmespath
import pytest
from observed import NODE, VARIABLES, node

from ansible_collections.taco.train.plugins.plugin_utils.preflight.table import WIDTH, table
from ansible_collections.taco.train.plugins.plugin_utils.preflight.verdict import (
    CHECKS,
    CONTROLLER_CHECKS,
    KUBERNETES_CHECKS,
    Host,
    VerdictError,
    failed_hosts,
    judge,
)

GOOD = Host(NODE, VARIABLES)


def statuses(verdict, host):
    return {check["id"]: check["status"] for check in verdict["hosts"][host]["checks"]}


def test_good_hosts_pass_every_check():
    # Of a host that is no node of a cluster there is nothing to say about one.
    of_cvm = set(CHECKS) - set(KUBERNETES_CHECKS) - set(CONTROLLER_CHECKS)
    verdict = judge({"gpu1": GOOD, "gpu2": GOOD}, jmespath.search)
    assert verdict["status"] == "pass" and failed_hosts(verdict) == []
    # The plugin is in the container, which does not run yet.
    passed = 2 * (len(of_cvm) - 3) + 2
    assert verdict["summary"] == {"hosts": 2, "fail": 0, "warn": 0, "skip": 2, "pass": passed}
    first, second = table(verdict).splitlines()
    assert first == f"Preflight: 0 failures and 0 warnings on 2 hosts; {passed} checks passed."
    assert second == "2 checks skipped: 2 wait for a running training container."


def test_a_host_that_did_not_answer_is_still_judged_by_its_variables():
    away = Host(None, dict(VARIABLES, harp_script_sha256=None), "unreachable: no route to host")
    verdict = judge({"away": away, "gpu1": GOOD}, jmespath.search)
    found = statuses(verdict, "away")
    assert found["host.observed"] == found["harp.checksum"] == "fail"
    assert found["eni.count"] == found["disk.free"] == "skip"
    assert found["gpu.declared"] == found["image.set"] == "pass"
    assert failed_hosts(verdict) == ["away"]
    assert verdict["hosts"]["gpu1"]["status"] == "pass" and verdict["status"] == "fail"


def test_all_failures_of_all_hosts_are_in_the_table():
    hosts = {
        "gpu1": Host(node("nics", []), VARIABLES),
        "gpu2": Host(node("disk.engine_free_bytes", 1), dict(VARIABLES, taco_gpus_per_node=4)),
        "gpu3": Host(None, dict(VARIABLES, taco_image="other/image:2"), "no Python"),
    }
    verdict = judge(hosts, jmespath.search)
    text = table(verdict)
    for word in ("eni.count", "disk.free", "host.observed", "cluster.same_gpus", "cluster.same_image", *hosts):
        assert word in text
    assert "3 hosts" in text.splitlines()[0] and "6 failures" in text.splitlines()[0]
    assert "8 of 4" in text  # with half the GPUs, half the ENIs are too many
    # What concerns all hosts together fails all of them.
    assert failed_hosts(verdict) == ["gpu1", "gpu2", "gpu3"]


def test_hosts_with_the_same_failure_share_a_row():
    bad = Host(node("disk.engine_free_bytes", 1), VARIABLES)
    few = table(judge({f"gpu{n}": bad for n in range(3)}, jmespath.search))
    assert few.count("disk.free") == 1 and all(f"gpu{n}" in few for n in range(3))
    many = table(judge({f"gpu{n}": bad for n in range(200)}, jmespath.search))
    assert "all 200 hosts" in " ".join(many.split()) and len(many.splitlines()) < 20


def test_lines_are_no_longer_than_the_table_is_wide_and_names_of_variables_stay_whole():
    name = "gpu-0001.ap-guangzhou.internal.example.com"
    bad = Host(node("nics", []), dict(VARIABLES, harp_script_sha256=None, taco_image=None), "x" * 500)
    text = table(judge({name: bad}, jmespath.search))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert not [line for line in text.splitlines() if line != line.rstrip()]
    for word in ("harp_script_sha256", "harp_allow_unverified:", "taco_image", "eni_pattern"):
        assert word in text


def test_warnings_are_shown_and_fail_nothing():
    verdict = judge({"gpu1": Host(node("container_engine", None), VARIABLES)}, jmespath.search)
    assert verdict["status"] == verdict["hosts"]["gpu1"]["status"] == "warn" and failed_hosts(verdict) == []
    assert "WARNING" in table(verdict) and "FAILED" not in table(verdict)


def test_a_check_can_be_left_out():
    verdict = judge({"gpu1": Host(node("nics", []), VARIABLES)}, jmespath.search, ["eni.count", "cluster.same_gpus"])
    assert verdict["status"] == "pass"
    assert statuses(verdict, "gpu1")["eni.count"] == verdict["fleet"][0]["status"] == "skip"


def test_leaving_out_a_check_that_is_none_is_an_error_with_the_closest():
    with pytest.raises(VerdictError, match=r"no check has the id eni\.cuont.*eni\.count"):
        judge({"gpu1": GOOD}, jmespath.search, ["eni.cuont"])


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({"query": "gpus.driver_version", "expected": "535.104.05"}, "pass"),
        ({"query": "gpus.count", "expected": 4}, "fail"),
        ({"query": "starts_with(gpus.driver_version, '535.')"}, "pass"),
        ({"query": "nics[?name=='eth7']"}, "pass"),
        ({"query": "nics[?name=='eth77']", "message": "an eth77", "fix": "attach it"}, "fail"),
        ({"query": "metadata.zone"}, "fail"),
        ({"query": "nics[0].up", "expected": False}, "fail"),
        ({"query": "cpu.page_1g", "expected": True}, "pass"),
    ],
)
def test_users_add_checks_over_the_facts(spec, status):
    verdict = judge({"gpu1": GOOD}, jmespath.search, extra=[dict(spec, id="site.own")])
    assert statuses(verdict, "gpu1")["site.own"] == status
    check = verdict["hosts"]["gpu1"]["checks"][-1]
    if spec.get("fix"):
        assert (check["expected"], check["fix"]) == ("an eth77", "attach it")


def test_an_added_check_must_not_take_the_name_of_another():
    with pytest.raises(VerdictError, match=r"has the id eni\.count"):
        judge({"gpu1": GOOD}, jmespath.search, extra=[{"id": "eni.count", "query": "x"}])
    unseen = judge({"gpu1": Host(None, VARIABLES, "away")}, jmespath.search, extra=[{"id": "a.b", "query": "x"}])
    assert statuses(unseen, "gpu1")["a.b"] == "skip"
    left_out = judge({"gpu1": GOOD}, jmespath.search, ["a.b"], [{"id": "a.b", "query": "nothing"}])
    assert statuses(left_out, "gpu1")["a.b"] == "skip"

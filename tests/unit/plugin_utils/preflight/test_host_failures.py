# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from ansible_collections.taco.train.plugins.plugin_utils.preflight.host_failures import FAILED, failures, outcome


def check(identity, status, **values):
    return dict({"id": identity, "status": status, "expected": "8", "found": "7", "fix": "attach one"}, **values)


def verdict(fleet=(), **hosts):
    return {"hosts": {name: {"checks": checks} for name, checks in hosts.items()}, "fleet": list(fleet)}


def test_each_host_has_its_own_failures_and_a_healthy_one_none_and_the_message_is_the_same_for_all():
    found = failures(
        verdict(
            gpu1=[check("eni.count", "pass")],
            gpu2=[check("eni.count", "fail"), check("disk.free", "warn"), check("a", "fail"), check("a", "fail")],
            gpu3=[check("host.observed", "fail", found="no answer")],
        ),
        unreachable=["gpu3"],
    )
    assert found == {
        "gpu2": {"msg": FAILED, "checks": ["eni.count", "a"], "unreachable": False},
        "gpu3": {"msg": FAILED, "checks": ["host.observed"], "unreachable": True},
    }


def test_a_check_of_all_hosts_fails_them_all():
    found = failures(verdict([check("fleet.same_gpus", "fail")], gpu1=[], gpu2=[check("eni.count", "fail")]))
    assert {name: one["checks"] for name, one in found.items()} == {
        "gpu1": ["fleet.same_gpus"],
        "gpu2": ["eni.count", "fleet.same_gpus"],
    }


def test_a_batch_stops_for_hosts_of_another_one_only_when_none_of_its_own_failed():
    found = {"gpu9": {"msg": "no ENI", "unreachable": False}}
    assert outcome("gpu9", ["gpu8", "gpu9"], found)["msg"] == "no ENI"
    assert outcome("gpu8", ["gpu8", "gpu9"], found) is None
    assert "gpu9" in outcome("gpu1", ["gpu1", "gpu2"], found)["msg"]
    assert outcome("gpu1", ["gpu1"], {}) is None
    many = {f"gpu{number:02}": found["gpu9"] for number in range(20)}
    assert "gpu04 and 15 more" in outcome("other", ["other"], many)["msg"]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What copies of a converged host have of their own."""

import json

import pytest
from bench import hosts, plans
from bench.competitors import CHANGES, PLAN
from bench.contest import BenchError, Contest
from bench.options import parsed


@pytest.fixture(name="contest")
def fixture_contest(tmp_path):
    return plans.Plans(parsed(["--hosts", "2 100 1000", "--only", "pq"]), tmp_path)


def test_a_manifest_has_the_values_of_its_host(tmp_path):
    one, other = hosts.planned(1000, tmp_path)[::999]
    text = json.dumps({"host": one.name, "nics": [{"mac": one.mac, "addresses": [f"{one.address}/16"]}]})
    expected = {"host": "bench999", "nics": [{"mac": other.mac, "addresses": [f"{other.address}/16"]}]}
    assert json.loads(plans.same_manifest(text, one, other)) == expected


def test_every_host_has_another_mac_address(tmp_path):
    planned = hosts.planned(1111, tmp_path)
    assert len({host.mac for host in planned}) == len(planned)
    assert planned[0].mac == "02:01:0a:40:01:01"


def test_hosts_of_a_group_trust_each_other(tmp_path):
    group, layer = hosts.planned(2, tmp_path), tmp_path / "layer"
    plans.trust(group, layer)
    peers = json.loads((layer / plans.TRUST / "peers.json").read_text())
    assert [(peer["name"], peer["address"], peer["port"]) for peer in peers] == [
        ("bench000", "10.64.1.1", 2222),
        ("bench001", "10.64.1.2", 2222),
    ]
    for host, peer in zip(group, peers):
        own = host.folder / "upper" / plans.TRUST
        identity = json.loads((own / "identity.json").read_text())
        assert identity == {key: peer[key] for key in ("host_key", "port", "public_key")}
        assert f"ListenAddress {host.address}\n" in (own / "sshd_config").read_text()


def test_plans_with_changes_are_measured_on_fewer_hosts(contest):
    assert [contest.competing_on(count) for count in (2, 100, 1000)] == [[PLAN, CHANGES], [PLAN, CHANGES], [PLAN]]


@pytest.mark.parametrize(
    ("competitor", "listed", "changes", "refused"),
    [(PLAN, 2, 0, False), (PLAN, 2, 1, True), (PLAN, 1, 0, True), (CHANGES, 2, 2, False), (CHANGES, 2, 0, True)],
)
def test_a_plan_of_copies_that_are_not_converged_ends_the_bench(
    contest, tmp_path, monkeypatch, competitor, listed, changes, refused
):
    class Done:
        output = "the output"

    monkeypatch.setattr(Contest, "play", lambda *_arguments, **_environment: (Done, 1.0))
    plan = {"changes": changes, "hosts": {f"bench{number:03d}": {} for number in range(listed)}}
    (tmp_path / "results/plan.json").write_text(json.dumps(plan))
    if refused:
        with pytest.raises(BenchError, match=f"{changes} changes on {listed} hosts"):
            contest.play(competitor, hosts.planned(2, tmp_path), 0)
    else:
        assert contest.play(competitor, hosts.planned(2, tmp_path), 0) == (Done, 1.0)

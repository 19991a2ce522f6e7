# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names and addresses of the hosts of the bench."""

import ipaddress
from pathlib import Path

import pytest
from bench import hosts
from bench.options import parsed


def test_every_host_has_an_address_of_its_own_in_the_network_of_its_gateway():
    planned = hosts.planned(2110, Path("work"))
    assert len({host.address for host in planned}) == len({host.name for host in planned}) == 2110
    for host in planned:
        network = ipaddress.ip_network(f"{hosts.gateway(host.network)}/{hosts.PREFIX}", strict=False)
        assert ipaddress.ip_address(host.address) in network and host.address != hosts.gateway(host.network)


def test_no_bridge_has_more_hosts_than_ports():
    networks = [host.network for host in hosts.planned(2110, Path("work"))]
    assert max(networks.count(network) for network in set(networks)) <= 1023


@pytest.mark.parametrize("only", ["", "x", "bd"])
def test_competitors_that_cannot_be_measured_are_refused(only, capsys):
    with pytest.raises(SystemExit):
        parsed(["--only", only])
    assert f"--only {only}" in capsys.readouterr().err


def test_plans_are_measured_without_other_competitors():
    assert parsed(["--only", "pq", "--targets", "plan"]).only == "pq"

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the bench reads: output of Ansible, logs of sshd, processes, options."""

import pytest
from bench import competitors, hosts, measure, options, versions

RECAP = """
PLAY RECAP *********************************************************************
bench000                   : ok=21   changed=0    unreachable=0    failed=0    skipped=13   rescued=0    ignored=0
bench001                   : ok=20   changed=1    unreachable=0    failed=0    skipped=13   rescued=0    ignored=0
"""
TWO = hosts.planned(2, options.Path("/tmp/bench"))


def test_hosts_have_names_and_addresses_of_their_own():
    many = hosts.planned(600, options.Path("/tmp/bench"))
    assert len({host.address for host in many}) == len({host.name for host in many}) == 600
    assert (many[0].address, many[249].address, many[250].address) == ("10.64.1.1", "10.64.1.250", "10.64.2.1")


@pytest.mark.parametrize(
    ("status", "output", "converged", "word"),
    [
        (0, RECAP.replace("changed=1", "changed=0"), True, ""),
        (0, RECAP, False, ""),
        (0, RECAP, True, "bench001"),
        (2, RECAP, False, "exit status 2"),
        (0, RECAP.replace("failed=0", "failed=1", 1), False, "bench000"),
        (0, RECAP.replace("unreachable=0", "unreachable=1", 1), False, "bench000"),
        (0, RECAP.replace("bench001", "other"), False, "bench001"),
    ],
)
def test_a_run_that_is_not_what_it_should_be_does_not_count(status, output, converged, word):
    said = competitors.trouble(competitors.COLLECTION, TWO, status, output, converged)
    assert word in said and bool(said) is bool(word)


def test_raw_ssh_is_judged_by_its_exit_status():
    assert competitors.trouble(competitors.RAW, TWO, 0, "", True) == ""
    assert competitors.trouble(competitors.RAW, TWO, 123, "", True) == "exit status 123"


def test_everybody_has_every_place_and_the_collection_is_first():
    orders = [[one.key for one in competitors.in_turn(competitors.ALL, repeat)] for repeat in range(5)]
    assert orders[0] == ["a", "d", "e", "b", "c"]
    assert all(sorted(place) == list("abcde") for place in zip(*orders))
    assert [one.key for one in competitors.in_turn([competitors.STEPS, competitors.COLLECTION], 1)] == ["b", "a"]


def test_the_inventory_pins_keys_and_names_every_host(tmp_path):
    found = competitors.inventory(TWO, tmp_path)["gpu_nodes"]
    assert found["hosts"] == {"bench000": {"ansible_host": "10.64.1.1"}, "bench001": {"ansible_host": "10.64.1.2"}}
    assert "StrictHostKeyChecking=yes" in found["vars"]["ansible_ssh_common_args"]
    assert len(found["vars"]["harp_script_sha256"]) == 64


def test_raw_ssh_goes_to_as_many_hosts_at_a_time(tmp_path):
    command = competitors.command(competitors.RAW, TWO, tmp_path, forks=20, rounds=5)
    assert command[: command.index("sh")] == ["xargs", "--arg-file", f"{tmp_path}/addresses-2", "-n", "1", "-P", "20"]
    assert command[-3:] == [str(tmp_path), "5", "modules"]
    assert (tmp_path / "addresses-2").read_text() == "10.64.1.1\n10.64.1.2\n"


def test_every_remote_execution_is_counted_once():
    log = (
        "Accepted publickey for root from 10.64.0.1 port 51234 ssh2: ED25519 SHA256:x\n"
        "Starting session: command for root from 10.64.0.1 port 51234 id 0\n"
        "Starting session: subsystem 'sftp' for root from 10.64.0.1 port 51234 id 1\n"
        "Close session: user root from 10.64.0.1 port 51234 id 0\n"
    )
    assert hosts.sessions(log) == 2


def test_processes_are_read_from_proc():
    assert measure.parent_in("42 (a b) c) S 7 42 42 0 -1") == 7
    assert measure.proportional_bytes("Rss:  900 kB\nPss:                 12 kB\nPss_Dirty: 8 kB\n") == 12 * 1024
    assert measure.proportional_bytes("") == 0
    assert sorted(measure.below(2, {1: [2, 3], 2: [4, 5], 5: [6]})) == [2, 4, 5, 6]


def test_a_command_is_measured(tmp_path):
    command = ["sh", "-c", "sleep 0.2; echo done; exit 3"]
    done = measure.measure(command, {"PATH": "/usr/bin:/bin"}, tmp_path, tmp_path / "log")
    assert (done.status, done.output, done.memory) == (3, "done\n", 0)
    assert done.wall >= 0.2 and done.cpu < 0.2


def test_the_version_of_ssh():
    assert versions.ssh_version("OpenSSH_9.2p1 Debian-2+deb12u10, OpenSSL 3.0.17 1 Jul 2025\n") == "9.2p1"


def test_options():
    found = options.parsed(["--hosts", "200 10,40", "--repeats", "5 3 1"])
    assert (found.hosts, found.repeats, found.forks) == ([10, 40, 200], [5, 3, 1], 20)
    assert options.parsed(["--hosts", "2 4"]).repeats == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--hosts", "ten"], "'ten'"),
        (["--hosts", "0"], "from 1 to 1000"),
        (["--repeats", "0"], "'0'"),
        (["--hosts", "2 4", "--repeats", "1 1 1"], "one for each number of hosts"),
        (["--only", "bd"], "they need a"),
    ],
)
def test_options_that_make_no_sense_are_refused(capsys, arguments, word):
    with pytest.raises(SystemExit):
        options.parsed(arguments)
    assert word in capsys.readouterr().err

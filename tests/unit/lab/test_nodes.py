# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nodes are started with."""

import io
import tarfile

import keys
import nodes
import pytest
from shell import CommandError, LabError

HYBRID = """\
20 1 0:10 / /sys rw - sysfs sysfs rw
30 20 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
32 30 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
33 31 0:31 / /sys/fs/cgroup/memory/deep rw - tmpfs tmpfs rw
"""


class Engine:
    """Stands in for an engine that refuses what a test says and remembers what it was asked."""

    def __init__(self, refused=(), answers=None):
        self.refused, self.answers, self.asked = refused, answers or {}, []

    def __call__(self, *arguments, data=None, timeout=600):
        self.asked.append(arguments)
        for word in self.refused:
            if word in arguments:
                raise CommandError("exit status 125: docker\nunable to apply caps")
        return self.answers.get(arguments[0], "")

    def lines(self, *arguments):
        return self(*arguments).split()


def test_each_hierarchy_is_a_mount_of_its_own_and_the_folder_is_the_nodes():
    assert nodes.group_mounts(HYBRID) == [
        *["--cgroupns", "host", "--tmpfs", "/sys/fs/cgroup:mode=755"],
        *["--volume", "/sys/fs/cgroup/cpu,cpuacct:/sys/fs/cgroup/cpu,cpuacct:rw"],
        *["--volume", "/sys/fs/cgroup/memory:/sys/fs/cgroup/memory:rw"],
    ]


def test_with_version_2_a_node_has_control_groups_of_its_own():
    first, _second = nodes.privileges("2", "")
    assert first == ["--privileged", "--cgroupns", "private"]


@pytest.mark.parametrize(("refused", "privileged"), [((), True), (("--privileged",), False)])
def test_the_rights_of_a_node_are_found_by_trying(refused, privileged):
    options = nodes.choose_privileges(Engine(refused, {"info": "1\n"}))
    assert ("--privileged" in options) is privileged


def test_an_engine_that_grants_nothing_is_an_error_that_says_what_it_said():
    with pytest.raises(LabError, match="unable to apply caps"):
        nodes.choose_privileges(Engine(("run",), {"info": "2\n"}))


def test_nodes_of_another_lab_are_left_alone():
    with pytest.raises(LabError, match="/elsewhere"):
        nodes.refuse_foreign(Engine(answers={"container": "taco-lab-node-0 /elsewhere\n"}))
    own = Engine(answers={"container": f"taco-lab-node-0 {nodes.ROOT}\n"})
    nodes.refuse_foreign(own)
    assert own.asked


def test_addresses_of_all_nodes_differ_and_fit_their_subnets():
    found = [address for index in range(nodes.MOST_NODES) for address in nodes.addresses(0, index)]
    assert len(set(found)) == len(found) == 3 * nodes.MOST_NODES
    assert nodes.addresses(0, 1) == ["10.177.64.12", "10.177.65.12", "10.177.66.12"]
    assert nodes.addresses(3, 1) == ["10.180.64.12", "10.180.65.12", "10.180.66.12"]
    assert all(1 < int(address.rsplit(".", 1)[1]) < 255 for address in found)


def test_a_nodes_identity_is_readable_by_root_only(monkeypatch, tmp_path):
    monkeypatch.setattr(keys, "FOLDER", tmp_path)
    monkeypatch.setattr(keys, "IDENTITY", tmp_path / "id_ed25519")
    with tarfile.open(fileobj=io.BytesIO(nodes.identity_tar(0))) as tar:
        found = {member.name: (member.mode, member.uid) for member in tar}
        login = tar.extractfile("root/.ssh/authorized_keys").read().decode()
        public = tar.extractfile("etc/ssh/ssh_host_ed25519_key.pub").read().decode()
    assert found == {
        "root/.ssh": (0o700, 0),
        "etc/ssh/ssh_host_ed25519_key": (0o600, 0),
        "etc/ssh/ssh_host_ed25519_key.pub": (0o644, 0),
        "root/.ssh/authorized_keys": (0o600, 0),
    }
    assert login == (tmp_path / "id_ed25519.pub").read_text()
    described = nodes.describe(0, 0)
    assert public.startswith(described["host_key"] + " ")
    assert [eni["name"] for eni in described["enis"]] == ["eth1", "eth2"]


def test_an_existing_bridge_is_not_joined(tmp_path):
    (tmp_path / "taco-lab2-1").mkdir()
    engine = Engine()
    with pytest.raises(LabError, match="taco-lab2-1 is not of this lab"):
        nodes.make_networks(engine, 2, tmp_path)
    created = [arguments[-1] for arguments in engine.asked if arguments[:2] == ("network", "create")]
    assert created == ["taco-lab"]


def test_only_missing_networks_are_created(tmp_path):
    (tmp_path / "taco-lab0-0").mkdir()
    engine = Engine(answers={"network": ""})
    engine.lines = lambda *arguments: ["taco-lab"]
    nodes.make_networks(engine, 0, tmp_path)
    created = [arguments for arguments in engine.asked if arguments[:2] == ("network", "create")]
    assert [arguments[-1] for arguments in created] == ["taco-lab-eni-1", "taco-lab-eni-2"]
    assert all("--internal" in arguments for arguments in created)


@pytest.mark.parametrize(("networks", "expected"), [("taco-lab", 3), ("", 5)])
def test_a_lab_keeps_its_slot_while_it_has_networks(networks, expected, monkeypatch, tmp_path):
    monkeypatch.setattr(nodes, "SLOT", tmp_path / "slot")
    monkeypatch.setattr(nodes.slots, "choose", lambda *arguments: 5)
    (tmp_path / "slot").write_text("3\n")
    assert nodes.choose_slot(Engine(answers={"network": networks})) == expected

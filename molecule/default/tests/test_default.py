# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What stands on the nodes of the Docker lab after converge."""

import json
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
testinfra_hosts = ["ansible://gpu_nodes?ansible_inventory=%s" % (ROOT / "inventories/lab")]

NODES = ("taco-lab-node-0", "taco-lab-node-1")
CONFIG = "/usr/local/tfabric/tools/config"


def in_container(host, *argv):
    return host.run("docker exec taco-train " + shlex.join(argv))


def test_the_pages_are_in_one_place_of_the_boot_configuration(host):
    assert not host.file("/etc/default/grub").contains("hugepages")
    dropins = host.run("grep -l hugepages= /etc/default/grub.d/*.cfg").stdout.split()
    assert len(dropins) == 1
    assert sorted(host.file("/etc/default/grub.d").listdir())[-1] == Path(dropins[0]).name


def test_every_boot_entry_reserves_the_pages_once_and_in_order(host):
    lines = [
        line
        for line in host.file("/boot/grub/grub.cfg").content_string.splitlines()
        if line.strip().startswith("linux")
    ]
    assert lines
    for line in lines:
        assert line.count("default_hugepagesz=1G hugepagesz=1G hugepages=1") == 1
        assert line.count("hugepages=") == 1


def test_what_was_there_before_is_kept_for_the_way_back(host):
    folder = host.file("/var/lib/taco-train/originals")
    assert folder.is_directory and folder.mode == 0o700
    assert folder.listdir()


def test_harp_has_a_configuration_for_each_eni_and_the_script_is_kept(host):
    files = host.run("ls %s" % CONFIG).stdout.split()
    assert len([name for name in files if name.startswith("ztcp")]) == 2
    for name in files:
        assert host.file(CONFIG + "/" + name).size > 0
    (kept,) = host.run("ls -d /var/lib/taco-train/harp/setup-*").stdout.split()
    assert host.file(kept).mode == 0o700


def test_the_manifest_describes_the_enis_and_is_not_called_a_configuration_of_harp(host):
    manifest = json.loads(host.file("/var/lib/taco-train/host-manifest.json").content_string)
    text = json.dumps(manifest)
    assert "eth1" in text and "eth2" in text


def test_the_container_runs_the_image_with_harps_mounts(host):
    (container,) = json.loads(host.run("docker inspect taco-train").stdout)
    assert container["State"]["Running"]
    assert container["Config"]["Image"] == "taco-lab/training:1"
    assert container["HostConfig"]["NetworkMode"] == "host"
    targets = {mount["Destination"] for mount in container["Mounts"]}
    assert {"/dev/hugepages", "/usr/local/tfabric/tools", "/sys/kernel/mm/hugepages"} <= targets


@pytest.mark.parametrize("peer", NODES)
def test_every_container_reaches_every_other_with_its_key_alone(host, peer):
    answer = in_container(host, "ssh", "-o", "BatchMode=yes", peer, "hostname")
    assert answer.rc == 0 and answer.stdout.strip() == peer


def test_the_ssh_server_takes_keys_only_and_listens_on_one_address(host):
    (listening,) = [line for line in host.run("ss -ltnH").stdout.splitlines() if ":2222" in line]
    assert "0.0.0.0:2222" not in listening and "*:2222" not in listening
    address = listening.split()[3].rsplit(":", 1)[0]
    refused = (
        "ssh -F none -p 2222 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o PubkeyAuthentication=no "
        f"-v {address} true; test $? -eq 255"  # which testinfra would take for the end of its own connection
    )
    tried = in_container(host, "sh", "-c", refused)
    assert tried.rc == 0
    assert "Authentications that can continue: publickey" in tried.stderr
    assert "password" not in tried.stderr.split("can continue:")[1].splitlines()[0]


def test_private_keys_are_for_root_alone(host):
    keys = host.run(
        "find /var/lib/taco-train/ssh -type f ! -name '*.pub' -exec grep -l 'PRIVATE KEY' {} +"
    ).stdout.split()
    assert keys
    for key in keys:
        assert host.file(key).mode == 0o600
    assert host.file("/var/lib/taco-train/ssh").mode == 0o700

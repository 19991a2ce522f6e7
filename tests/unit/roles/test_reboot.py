# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts the role reboot would reboot. That it does, and what comes of it, is tested on machines that can be rebooted."""

import re

import pytest
from observed import NODE
from played import check, run

PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.set_fact:
        taco_boot: {reboot_required: "{{ needed }}", page_size: 1G, count: 50, said: ["50"], trial: false}
    - ansible.builtin.include_role:
        name: taco.train.reboot
"""


ALLOWED, FORBIDDEN = {"needed": True, "reboot_allowed": True}, {"needed": True, "reboot_allowed": False}
SETTLED = {"needed": False, "reboot_allowed": True}


# Of each play its hosts, and what is forecast.
FORECASTS = [
    ([ALLOWED, ALLOWED, FORBIDDEN], ["2 hosts to reboot in 2 batches"]),
    ([FORBIDDEN, ALLOWED, ALLOWED], ["2 hosts to reboot in 2 batches"]),
    ([SETTLED, ALLOWED, SETTLED], ["1 host to reboot in 1 batch"]),
    ([SETTLED, SETTLED, FORBIDDEN], []),
]


def test_each_host_is_asked_whether_it_needs_a_reboot_and_may_have_it(tmp_path):
    hosts = {
        f"gpu-{play}-{number}": variables
        for play, (own, _forecast) in enumerate(FORECASTS)
        for number, variables in enumerate(own)
    }
    plays = "".join(PLAY.replace("hosts: all", f"hosts: gpu-{play}-*") for play in range(len(FORECASTS)))
    status, output = check(tmp_path, plays, hosts, {"reboot_required_now": False})
    said = [re.findall(r"\d+ hosts? to reboot in \d+ batch(?:es)?", text) for text in output.split("PLAY [")[1:]]
    assert status == 0 and said == [forecast for _hosts, forecast in FORECASTS], output


def test_a_batch_that_is_none_is_refused(tmp_path):
    status, output = check(tmp_path, PLAY, {"gpu-0": ALLOWED}, {"reboot_batch": "many"})
    assert status != 0 and "reboot_batch: many; expected a number of hosts" in output, output


# This machine stands for each host: a script takes the place of the command that reboots, a file that of the boot ID, and what the host
# answers whenever it is asked for that is what the script wrote: first a farewell beside the old one, the new one, or no more after it.
CONNECTION = """
import os
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection.local import Connection as Local, DOCUMENTATION


class Connection(Local):
    transport = "stand_in"

    def exec_command(self, cmd, *arguments, **options):
        gone, boot, steps = ({folder!r} + name + self._play_context.remote_addr for name in ("/gone-", "/boot-", "/steps-"))
        if os.path.exists(gone):
            raise AnsibleConnectionFailure("no route to the host")
        step, rest = "", []
        if "/proc/sys/kernel/random/boot_id" in cmd and os.path.exists(steps):
            step, *rest = open(steps).read().split() or [""]
            open(steps, "w").write(" ".join(rest))
        if step == "back":
            open(boot, "w").write("after\\n")
        if step == "last":
            open(gone, "w")
        status, output, error = super().exec_command(cmd.replace("/proc/sys/kernel/random/boot_id", boot), *arguments, **options)
        return status, (b"System is going down.\\n" if step == "farewell" else b"") + output, error
"""
ROLLING = """
- hosts: all
  gather_facts: false
  any_errors_fatal: {fatal}
{more}  module_defaults:
    ansible.builtin.reboot:
      reboot_command: "{folder}/reboot {{{{ inventory_hostname }}}} {{{{ fate }}}}"
  tasks:
    - ansible.builtin.include_role:
        name: taco.train.reboot
    - ansible.builtin.debug:
        msg: "{{{{ inventory_hostname }}}} went on"
"""
REBOOT = """#!/bin/sh
case $2 in
task) echo broken >&2; exit 1;;
slow) steps="farewell farewell back";;
never) steps="farewell farewell";;
unreachable) steps="back last";;
*) steps=back;;
esac
echo "$steps" > FOLDER/steps-$1
"""
MANY = 1000000


def host(fate="well", pages=0, **more):
    asked = {"reboot_required": True, "page_size": "1G", "count": pages, "said": [str(pages)], "trial": False}
    return dict({"fate": fate, "taco_boot": asked}, **more)


BAD = {
    "task": (host("task"), "gpu2: Reboot failed: Reboot command failed"),
    "unreachable": (host("unreachable"), "no route to the host. See its console and its SSH server"),
    "too few pages": (host(pages=MANY), f"gpu2: its kernel line is wrong, it should say hugepages={MANY} once"),
}


def rolling(folder, hosts, *, fatal=True, more="", **options):
    """Reboot the hosts in batches of three; return the exit status, the output on one line and the recap by host."""
    (folder / "connection_plugins").mkdir()
    (folder / "connection_plugins/stand_in.py").write_text(CONNECTION.format(folder=str(folder)))
    (folder / "reboot").write_text(REBOOT.replace("FOLDER", str(folder)))
    (folder / "reboot").chmod(0o755)
    for name in hosts:
        (folder / f"boot-{name}").write_text(NODE["kernel"]["boot_id"] + "\n")
    hosts = {name: dict(variables, ansible_connection="stand_in") for name, variables in hosts.items()}
    status, output = run(
        folder,
        ROLLING.format(folder=folder, fatal=str(fatal).lower(), more=more),
        hosts,
        {"reboot_allowed": True, "reboot_batch": 3, "taco_results_dir": str(folder / "results"), **options},
        ANSIBLE_CALLBACKS_ENABLED="taco.train.summary",
        TACO_SUMMARY_WIDTH="400",
    )
    recap = {
        name: dict(re.findall(r"(\w+)=(\d+)", text)) for name, text in re.findall(r"^(gpu\d) +: (.*)$", output, re.M)
    }
    return status, " ".join(output.split()), recap


def rebooted(folder, name):
    return (folder / f"boot-{name}").read_text().strip() == "after"


@pytest.mark.parametrize(("fault", "may_fail"), [("task", 1), ("unreachable", 1), ("too few pages", 0)])
def test_a_host_that_fails_in_a_batch_ends_no_other_host_of_it(tmp_path, fault, may_fail):
    variables, reason = BAD[fault]
    hosts = {"gpu1": host(), "gpu2": variables, "gpu3": host(), "gpu4": host()}
    status, output, recap = rolling(tmp_path, hosts, reboot_may_fail=may_fail)
    assert status == 2 and "is undefined" not in output, output
    assert "batch 1 of 2: gpu1, gpu3 rebooted and verified. gpu2: " in output and reason in output
    # The host that failed, and nobody else, is counted and named once.
    assert {name for name, counts in recap.items() if counts["failed"] != "0"} == {"gpu2"}, output
    assert re.search(r"FAILED gpu2: Fail (if too many|the) hosts", output), output
    went_on = set(re.findall(r"(gpu\d) went on", output))
    assert rebooted(tmp_path, "gpu1") and rebooted(tmp_path, "gpu3") and rebooted(tmp_path, "gpu4") == bool(may_fail)
    if may_fail:
        assert "3 hosts rebooted and verified: gpu1, gpu3, gpu4" in output and went_on == {"gpu1", "gpu3", "gpu4"}
    else:
        assert "1 failed and reboot_may_fail allows 0, so no further batch is started" in output and not went_on
        assert "2 hosts rebooted and verified: gpu1, gpu3" in output and "1 host not rebooted: gpu4" in output


def test_hosts_that_fail_are_counted_once_each_and_the_next_hosts_of_the_play_are_left_alone(tmp_path):
    """All of the first batch, with a loop that fails and the first host of the play unreachable, in a play without any_errors_fatal."""
    hosts = {
        "gpu1": host("unreachable"),
        "gpu2": host(reboot_commands_before=[["true"], ["false"]]),
        "gpu3": host("never", reboot_timeout=1),
        "gpu4": host(),
    }
    more = "  serial: 3\n  max_fail_percentage: 100\n"
    status, output, recap = rolling(tmp_path, hosts, fatal=False, more=more, reboot_may_fail=2)
    assert status == 2 and "3 failed and reboot_may_fail allows 2" in output, output
    assert "gpu2: Run the pre-reboot commands failed: non-zero return code" in output
    assert re.search("gpu3: Reboot failed: Timed out .*; no other boot ID was seen within reboot_timeout", output), (
        output
    )
    assert [recap[name]["failed"] for name in ("gpu1", "gpu2", "gpu3")] == ["1", "1", "1"] and "gpu4" not in recap
    assert "went on" not in output and not rebooted(tmp_path, "gpu2") and not rebooted(tmp_path, "gpu4")


def test_a_later_part_of_a_serial_play_reboots_its_own_hosts_only(tmp_path):
    """The first one says farewell with its old boot ID, which differs from that alone, and is waited for all the same."""
    status, output, recap = rolling(tmp_path, {"gpu1": host("slow"), "gpu2": host()}, more="  serial: 1\n")
    assert rebooted(tmp_path, "gpu1") and rebooted(tmp_path, "gpu2") and (tmp_path / "steps-gpu1").read_text() == ""
    assert status == 0 and output.count("1 host to reboot in 1 batch") == 2 and "2 hosts to reboot" not in output, (
        output
    )


def test_every_host_that_needs_a_reboot_and_must_not_have_it_is_named(tmp_path):
    status, output, recap = rolling(tmp_path, {"gpu1": host(), "gpu2": host(), "gpu3": host()}, reboot_allowed=False)
    assert status == 2 and [counts["failed"] for counts in recap.values()] == ["1", "1", "1"], output

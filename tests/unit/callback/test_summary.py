# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The summary at the end of real playbooks, on a terminal and elsewhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

import boot_host
import playbook
import pytest
import yaml

ROOT = Path(__file__).parents[3]
ROLES = ROOT / "collections/ansible_collections/taco/train/roles"
PLAY = """
- name: Change one, need a reboot, judge both
  hosts: all
  gather_facts: false
  tasks:
    - name: Reserve pages
      taco.train.hugepages:
        count: 2
        sysroot: "{{ playbook_dir }}/root"
        regenerate: false
      when: inventory_hostname == 'gpu1'

    - name: Recover from a failure
      block:
        - name: Fail, for now
          ansible.builtin.fail:
            msg: not a failure in the end
      rescue:
        - name: Go on
          block:
            - name: Go on
              ansible.builtin.debug:

    - name: Judge
      taco.train.preflight:
        verdict_path: "{{ playbook_dir }}/results/verdict.json"
        skip: [gpu.declared, harp.checksum]
      run_once: true
"""

# The host's name in a message must not keep hosts with the same failure apart.
FAILURES = """
- name: Fail
  hosts: all
  gather_facts: false
  tasks:
    - name: Fail, and clean up
      block:
        - name: Try and recover
          block:
            - name: Try
              ansible.builtin.fail:
                msg: not a failure in the end
          rescue:
            - name: Go on
              ansible.builtin.debug:
        - name: Configure
          ansible.builtin.fail:
            msg: "{{ inventory_hostname }}: no script: set harp_script"
      always:
        - name: Clean up
          ansible.builtin.fail:
            msg: nothing to clean up
"""
REPORT = """
- name: Render
  hosts: all
  gather_facts: false
  tasks:
    - name: Render
      taco.train.report:
        run_dir: "{{ playbook_dir }}/run"
"""


@pytest.fixture
def project(tmp_path):
    for path, text in {
        "play.yml": PLAY,
        "inventory.yml": f"all: {{hosts: {{gpu1: , gpu2: }}, vars: {{ansible_python_interpreter: {sys.executable}}}}}\n",
        "ansible.cfg": "[defaults]\ncallbacks_enabled = taco.train.summary\n",
    }.items():
        (tmp_path / path).write_text(text)
    boot_host.debian_host(tmp_path / "root")
    return tmp_path


def command(*arguments):
    playbook = [sys.executable, "-m", "ansible", "playbook", "play.yml", "-i", "inventory.yml", "-c", "local"]
    return [*playbook, *arguments]


def environment(**more):
    """Return an environment in which nothing is said about colours but what the test says."""
    kept = {name: value for name, value in os.environ.items() if "COLOR" not in name and name != "COLUMNS"}
    return dict(kept, ANSIBLE_COLLECTIONS_PATH=str(ROOT / "collections"), ANSIBLE_CONFIG="ansible.cfg", **more)


def summary(text):
    assert "Summary of 2 hosts" in text, text
    return text[text.index("Summary of 2 hosts") :].splitlines()


def piped(project, *arguments, **more):
    more["ANSIBLE_CALLBACKS_ENABLED"] = "taco.train.summary"
    arguments = ["play.yml", "-i", "inventory.yml", "-c", "local", *arguments]
    status, output = playbook.run(project, arguments, ANSIBLE_CONFIG=playbook.NO_CONFIGURATION, **more)
    return status, summary(output)


def on_a_terminal(project, **more):
    """Return what a playbook writes to a terminal of 80 columns."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        command(),
        cwd=project,
        env=environment(TERM="xterm", COLUMNS="80", **more),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        pieces = []
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            pieces.append(piece)
        process.wait()
    os.close(ours)
    return "\n".join(summary(b"".join(pieces).decode()))


def test_it_says_what_changed_is_pending_and_failed(project):
    code, lines = piped(project, TACO_SUMMARY_WIDTH="100")
    assert code == 2
    assert lines[0] == "Summary of 2 hosts: 1 failed, 1 changed, 1 with something pending."
    assert lines[2].split() == ["HOST", "CHANGED", "PENDING", "VERDICT"]
    first, second = lines[4:6]
    assert first.split("  ")[0] == "gpu1" and "Reserve pages" in first and "reboot" in first
    assert second.startswith("gpu2") and "nothing" in second
    assert all("fail: host.observed" in line for line in (first, second))
    assert lines[7] == "FAILED" and lines[8].startswith("gpu1: Judge: Preflight: 2 failures")
    assert max(map(len, lines)) <= 100 and "in the end" not in "".join(lines)


def test_it_shows_the_first_failure_and_none_that_a_play_rescued(project):
    (project / "play.yml").write_text(FAILURES)
    code, lines = piped(project, TACO_SUMMARY_WIDTH="100")
    assert code == 2 and lines[lines.index("FAILED") + 1 :] == ["gpu1, gpu2: Configure: no script: set harp_script"], (
        lines
    )


def test_the_path_of_a_report_comes_last(project):
    (project / "run").mkdir()
    (project / "play.yml").write_text(REPORT)
    code, lines = piped(project, TACO_SUMMARY_WIDTH="60")
    assert code == 0 and lines[-1] == f"Report: {project}/run/report.html", lines


def test_it_says_what_would_change_and_is_as_wide_as_told(project):
    code, lines = piped(project, "--check", COLUMNS="60")
    assert code == 0
    assert "WOULD CHANGE" in "\n".join(lines) and max(map(len, lines)) <= 60


def test_it_is_silent_unless_enabled(project):
    (project / "ansible.cfg").write_text("[defaults]\n")
    done = subprocess.run(command("--check"), cwd=project, env=environment(), stdout=subprocess.PIPE, text=True)
    assert "Summary of" not in done.stdout and "PLAY RECAP" in done.stdout


def test_it_is_silent_where_the_output_is_json(project):
    (project / "play.yml").write_text(FAILURES)
    told = environment(ANSIBLE_STDOUT_CALLBACK="ansible.builtin.json")
    done = subprocess.run(command(), cwd=project, env=told, stdout=subprocess.PIPE, text=True)
    assert list(json.loads(done.stdout)["stats"]) == ["gpu1", "gpu2"]


def test_messages_of_roles_are_shown_where_ok_hosts_are_hidden(project):
    (project / "run").mkdir()
    (project / "play.yml").write_text(
        "- name: Report\n  hosts: all\n  gather_facts: false\n  roles:\n    - role: taco.train.report\n"
        '      vars: {taco_run_dir: "{{ playbook_dir }}/run"}\n'
    )
    for hidden in ("false", "true"):
        told = environment(ANSIBLE_DISPLAY_OK_HOSTS=hidden, ANSIBLE_DISPLAY_SKIPPED_HOSTS="false")
        done = subprocess.run(command(), cwd=project, env=told, stdout=subprocess.PIPE, text=True)
        assert done.stdout.count(f"Report: {project}/run/report.html") == 2, done.stdout
        assert ("\nROLE taco.train.report\n" in done.stdout) == (hidden == "false"), done.stdout
        assert ("\nTASK [" in done.stdout) == (hidden == "true"), done.stdout


def test_it_is_coloured_as_the_other_output_of_ansible(project):
    assert "\x1b[" in on_a_terminal(project)
    assert "\x1b[" not in on_a_terminal(project, NO_COLOR="1")
    done = subprocess.run(command("--check"), cwd=project, env=environment(), stdout=subprocess.PIPE, text=True)
    assert "\x1b[" not in "".join(summary(done.stdout))


def rescues(tasks):
    """Yield the tasks of each rescue in a list of tasks."""
    for task in tasks or []:
        if "rescue" in task:
            yield task["rescue"]
        for section in ("block", "rescue", "always"):
            yield from rescues(task.get(section))


def test_each_rescue_of_a_role_begins_with_a_task_that_always_reports():
    found = {path: list(rescues(yaml.safe_load(path.read_text()))) for path in ROLES.glob("*/tasks/*.yml")}
    assert sum(map(len, found.values())) > 3
    for path, sections in found.items():
        for section in sections:
            assert not {"when", "ansible.builtin.meta"} & set(section[0]), path

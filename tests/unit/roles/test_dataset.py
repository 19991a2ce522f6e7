# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data set of the TTF demos, downloaded by a double of the vendor's script: which data the real one downloads is not published."""

import hashlib

import played
import pytest
import yaml
from guides import COLLECTION

from ansible_collections.taco.train.plugins.plugin_utils.workloads.ttf import FOLDER

SCRIPT = "echo downloading\necho data >> data.csv\n"
CHECKSUM = hashlib.sha256(SCRIPT.encode()).hexdigest()
OTHER = hashlib.sha256(b"another script").hexdigest()
WAIVED = {"benchmark_dataset_allow_unverified": True}
VERIFIED = {"benchmark_dataset_sha256": CHECKSUM}
DATA, MARKER = "data.csv", ".taco-train-dataset"

PLAY = """
- name: Download data sets
  hosts: all
  gather_facts: false
  tasks:
    - name: Download each data set
      ansible.builtin.include_tasks: case.yml
      loop: "{{ cases }}"
"""
CASE = """
- name: Keep the message of a failure
  vars:
    benchmark_dataset_sha256: "{{ item.benchmark_dataset_sha256 | default(none) }}"
    benchmark_dataset_allow_unverified: "{{ item.benchmark_dataset_allow_unverified | default(false) }}"
    benchmark_timeout: "{{ item.benchmark_timeout | default(60) }}"
    benchmark_exec_prefix: "{{ item.benchmark_exec_prefix | default([]) }}"
    benchmark_options: {demo_dir: "{{ playbook_dir }}/{{ item.folder }}"}
  block:
    - name: Download the data set
      ansible.builtin.include_role:
        name: taco.train.benchmark
        tasks_from: dataset
  rescue:
    - name: Write the message
      ansible.builtin.copy:
        content: "{{ ansible_failed_result.msg }}"
        dest: "{{ playbook_dir }}/{{ item.folder }}/message"
        mode: "0600"
      check_mode: false
"""

# Folder, script, the variables of the calls, the words of the last call's message, and whether there is data afterwards.
INSIDE = {"benchmark_exec_prefix": ["env", "INSIDE=1"]}
CAPITALS = {"benchmark_dataset_sha256": f" {CHECKSUM.upper()} "}
TABLE = {
    "verified": (SCRIPT, [{**VERIFIED, **INSIDE}, CAPITALS], [], True),
    "data_of_another": (SCRIPT, [WAIVED, {"benchmark_dataset_sha256": OTHER}], [f"found {CHECKSUM} of", MARKER], True),
    "another": (SCRIPT, [{**WAIVED, "benchmark_dataset_sha256": OTHER}], [OTHER, f"found {CHECKSUM}"], False),
    "not_waived": (SCRIPT, [{}], ["benchmark_dataset_sha256, which is not set", CHECKSUM, "read the script"], False),
    "failing": ("echo no route >&2\nexit 7\n", [WAIVED], ["exit status 7: no route", "way to the network"], False),
    "endless": ("sleep 60\n", [{**WAIVED, "benchmark_timeout": 1}], ["no end within 1 s", "benchmark_timeout"], False),
    "missing": (None, [VERIFIED], ["download_dataset.sh", "No such file", "demo_dir", "training image"], False),
    "no_engine": (SCRIPT, [{**VERIFIED, "benchmark_exec_prefix": ["no-such-engine"]}], ["no-such-engine can't"], False),
}


def play(folder, names, arguments=()):
    """Run the calls of these rows of the table in one play."""
    calls = []
    for name in names:
        script, variables, _words, _data = TABLE[name]
        (folder / name).mkdir()
        if script:
            (folder / name / "download_dataset.sh").write_text(script)
        calls += [dict(one, folder=name) for one in variables]
    (folder / "case.yml").write_text(CASE)
    options = {"cases": calls, "benchmark_dataset": True}
    rc, output = played.run(folder, PLAY, {"gpu1": {}}, options, arguments)
    assert rc == 0, output
    return output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a play with all calls of the table."""
    folder = tmp_path_factory.mktemp("datasets")
    play(folder, TABLE)
    return folder


@pytest.mark.parametrize("name", TABLE)
def test_only_the_expected_script_runs_and_only_once_and_a_failure_names_its_fix(folder, name):
    _script, _variables, words, data = TABLE[name]
    message = folder / name / "message"
    assert message.exists() == bool(words)
    assert [word for word in words if word not in message.read_text()] == []
    assert [(folder / name / file).exists() for file in (DATA, MARKER)] == [data, data]
    assert not data or (folder / name / DATA).read_text() == "data\n"


def test_check_mode_reports_a_change_and_runs_no_script(tmp_path):
    output = play(tmp_path, ["verified", "another"], ["--check"])
    assert not list(tmp_path.glob(f"*/{DATA}")) and not list(tmp_path.glob(f"*/{MARKER}"))
    assert [path.parent.name for path in tmp_path.glob("*/message")] == ["another"]
    assert "changed=0" not in output


def test_the_role_and_the_workload_have_the_same_folder_of_the_demos():
    variables = yaml.safe_load((COLLECTION / "roles/benchmark/vars/main.yml").read_text())
    assert f"default('{FOLDER}', true)" in variables["__benchmark_demos"]

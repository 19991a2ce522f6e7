# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Modules run by a Python that does not have the collection, in every version from 3.6."""

import glob
import json
import os
import subprocess
import sys

import pytest
from fake_worker import Worker, worker_options

from ansible_collections.taco.train.plugins.module_utils._acceleration.remote import WORKER_MODULES
from ansible_collections.taco.train.plugins.module_utils._process.carried import ProgramError, answer, program

PYTHONS = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3*/bin/python")) + [sys.executable])


@pytest.mark.parametrize("python", PYTHONS)
def test_the_workers_part_runs_where_nothing_of_it_is_installed(python, tmp_path):
    worker = Worker(tmp_path)
    worker.give_plugin()
    text = program(WORKER_MODULES, worker_options(worker, plugin="off"))
    # Isolated: neither this repository nor the current folder is on its path.
    done = subprocess.run([python, "-I", "-"], input=text.encode(), stdout=subprocess.PIPE, cwd=str(tmp_path))
    told = answer(done.stdout.decode())
    assert told["changed"] and told["prepended"] == {"LD_LIBRARY_PATH": str(worker.state / "without-plugin")}, told
    worker.close()


def test_what_the_workers_python_prints_by_itself_does_not_matter():
    assert answer('welcome\nhalf a line\n{"a": [1]}\n') == {"a": [1]}
    for nothing in ("", "welcome\n", "{"):
        with pytest.raises(ProgramError):
            answer(nothing)


def test_an_argument_with_quotes_and_line_ends_arrives_as_it_is(tmp_path):
    (tmp_path / "echoing.py").write_text("def main(argument):\n    return argument\n")
    sys.path.insert(0, str(tmp_path))
    try:
        import echoing
    finally:
        sys.path.remove(str(tmp_path))
    argument = {"a'\"\\": ["{braces}", "\n\u2028", None, 1.5]}
    done = subprocess.run([sys.executable, "-"], input=program([echoing], argument).encode(), stdout=subprocess.PIPE)
    assert answer(done.stdout.decode()) == json.loads(json.dumps(argument)) == argument

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The runs of a comparison, one after the other, with an mpirun that prints what a test asks for."""

import jsonschema
from bench_play import GOOD, HOSTS, SCHEMA


def run_of(arm, number, **own):
    case = {"id": "horovod_synthetic/ResNet50/2x2/256", "repeat": number, "warmup": False}
    return dict({"label": f"{arm}, run {number}", "arm": arm, "case": case, "hosts": HOSTS, "overrides": {}}, **own)


# Fails for the arm harp, and counts every start.
FAILS_WITHOUT_LIGHTCC = """\
echo called >> {calls}
case "$*" in *LIGHT_*) ;; *) exit 3 ;; esac
cat <<'END'
{good}END
"""


def test_the_runs_of_a_segment_are_done_one_after_the_other_and_each_shows_what_came_of_it(bench):
    bench.fake(FAILS_WITHOUT_LIGHTCC.format(calls=bench.folder / "calls", good=GOOD))
    turns = ["taco", "harp", "harp", "taco", "harp"]
    runs = [run_of(arm, number, runs_left=5 - number) for number, arm in enumerate(turns, 1)]
    result = bench.play(hosts=[], runs=runs, options={"model": "VGG16"}, num_iters=2)
    assert not result.get("failed"), bench.output
    kept = bench.records()
    for record in kept:
        jsonschema.validate(record, SCHEMA)
    # The fifth would have been the third failure of its arm in a row.
    assert [(one["arm"], one["outcome"]) for one in kept] == [
        *(("taco", "ok"), ("harp", "failed"), ("harp", "failed"), ("taco", "ok")),
    ]
    assert [one["case"]["repeat"] for one in kept] == [1, 2, 3, 4]
    assert {one["parameters"]["model"] for one in kept} == {"VGG16"}
    assert result["given_up"] == ["horovod_synthetic/ResNet50/2x2/256 harp"]
    assert [one["outcome"] for one in result["runs"]] == ["ok", "failed", "failed", "ok"]
    assert "taco, run 1: iteration 2 of 2, 102.0 images/s per device, mean 101.0" in bench.output
    assert "harp, run 2: The benchmark on launcher localhost failed: " in bench.output
    assert (bench.folder / "calls").read_text() == 4 * "called\n"


def test_failures_of_before_this_comparison_was_planned_do_not_count(bench):
    bench.fake("exit 3\n")
    bench.play(runs=[run_of("taco", 1), run_of("taco", 2), run_of("taco", 3)])
    assert len(bench.records()) == 2
    bench.play(runs=[run_of("taco", 3)])
    assert len(bench.records()) == 2, "two failures in a row, since no record is from before"
    bench.play(runs=[run_of("taco", 3)], records_before=2)
    assert len(bench.records()) == 3


def test_a_run_that_shows_no_iterations_shows_its_value(bench):
    bench.play(runs=[run_of("taco", 1)], progress=False)
    assert "taco, run 1: 404 images/s" in bench.output and "iteration 1" not in bench.output


def test_an_arm_that_is_not_active_gives_failed_records_and_starts_nothing(bench):
    bench.fake(f"echo called >> {bench.folder}/calls\n")
    workers = {"gpu2": {"failed": True, "msg": "no such container"}}
    result = bench.play(runs=[run_of("taco", 1), run_of("harp", 2)], workers=workers)
    assert not result.get("failed")
    problems = [record["problems"] for record in bench.records()]
    assert problems == 2 * [["The arm is not active on gpu2: no such container."]]
    assert not (bench.folder / "calls").exists()


LOSES = '''
DOCUMENTATION = """
name: loses
short_description: The local connection, lost once where a file says so
description: For tests.
author: Taco Team (@taco)
extends_documentation_fragment: [connection_pipelining]
"""
import os
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import local

class Connection(local.Connection):
    transport = "loses"
    def exec_command(self, *arguments, **options):
        if os.path.exists(os.environ["LOSE"]):
            os.unlink(os.environ["LOSE"])
            raise AnsibleConnectionFailure("gone away")
        return super().exec_command(*arguments, **options)
'''


def test_a_connection_lost_in_the_middle_of_a_segment_is_a_failed_run_and_the_next_one_is_tried(bench):
    lose = bench.folder / "lose"
    bench.fake(f"[ -e {lose}.once ] || touch {lose} {lose}.once\ncat <<'END'\n{GOOD}END\n")
    plugins = bench.folder / "connection_plugins"
    plugins.mkdir()
    (plugins / "loses.py").write_text(LOSES)
    bench.settings = {"LOSE": str(lose)}
    result = bench.play("-c", "loses", runs=[run_of("taco", number) for number in (1, 2, 3)], progress=False)
    assert not result.get("failed"), bench.output
    kept = bench.records()
    assert [record["outcome"] for record in kept] == ["ok", "failed", "ok"], bench.output
    assert "the connection to it was lost: gone away" in kept[1]["problems"][0].lower()


def test_what_is_wrong_with_one_of_the_runs_is_refused_before_the_first(bench):
    assert "batch_size" in bench.refused(runs=[run_of("taco", 1), run_of("taco", 2, overrides={"batch_size": "many"})])
    assert "Each of 'runs' has no model" in bench.refused(runs=[run_of("taco", 1, model="VGG16")])

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever a benchmark prints is read back; whatever else there is never raises and is never a result."""

import json
import math
from pathlib import Path
from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS, arm_of
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.lightcc import SETTINGS, group_size, validate
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.nccl_log import plugin
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import environment

FIXTURES = {path.name: path.read_text() for path in (Path(__file__).parents[1] / "fixtures/benchmarks").glob("*.txt")}
LINES = [line for text in FIXTURES.values() for line in text.splitlines()]
OPTIONS = {"pattern": r"(?P<value>[0-9.einfa+-]+)", "total_pattern": r"total.* (?P<value>\S+)"}
SPEEDS = st.floats(min_value=1, max_value=1e6)
KEYS = """version config devices rank results in_place out_of_bounds count okay bandwidth average_bus_bandwidth
    end_time""".split()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
        )
    ),
    max_leaves=20,
)


def usable(found):
    """Return whether there is a value, after checking that it is there exactly when nothing is wrong with it."""
    value = found["value"]
    assert (value is None) == bool(found["problems"])
    assert value is None or (math.isfinite(value) and value > 0)
    assert all(isinstance(problem, str) and problem.endswith(".") for problem in found["problems"])
    json.dumps(found, allow_nan=False)
    return value is not None


@given(
    name=st.sampled_from(sorted(WORKLOADS)),
    text=st.text() | st.lists(st.sampled_from(LINES) | st.text(max_size=20)).map("\n".join),
    ranks=st.none() | st.integers(1, 64),
    options=st.sampled_from([None, {}, OPTIONS, {"pattern": "("}, {"json": "{"}]),
)
def test_no_text_makes_a_parser_raise(name, text, ranks, options):
    usable(WORKLOADS[name].parse(text, expected_ranks=ranks, device="GPU", options=options))
    plugin(text)


@given(name=st.sampled_from(sorted(FIXTURES)), workload=st.sampled_from(sorted(WORKLOADS)), cut=st.floats(0, 1))
def test_no_cut_log_makes_a_parser_raise(name, workload, cut):
    text = FIXTURES[name]
    usable(WORKLOADS[workload].parse(text[: int(cut * len(text))], expected_ranks=2, device="GPU", options=OPTIONS))


@given(document=JSON)
def test_no_document_makes_a_parser_raise(document):
    text = json.dumps(document)
    usable(WORKLOADS["nccl_tests"].parse("", options={"json": text}))
    usable(WORKLOADS["nccl_tests"].parse('{"version":1,"end_time":1,"results":[],"config":' + text + "}\n"))


def render_tf_cnn(ranks, batch, steps, totals):
    """Print as tf_cnn_benchmarks does on each of its ranks, one rank after the other."""
    lines = []
    for number, total in enumerate(totals):
        prefix = f"[1,{number}]<stdout>:"
        devices = ", ".join(f"'horovod/gpu:{place}'" for place in range(ranks))
        head = ["Model:       m", f"Batch size:  {batch * ranks} global", f"             {batch} per device"]
        head += [f"Devices:     [{devices}]", "Variables:   horovod", "Step\tImg/sec\ttotal_loss"]
        head += [
            f"{10 * step}\timages/sec: {speed:.1f} +/- 0.1 (jitter = 0.2)\t7.5" for step, speed in enumerate(steps)
        ]
        lines += [prefix + line for line in [*head, "-" * 64, f"total images/sec: {total:.2f}", "-" * 64]]
    return lines


@given(
    ranks=st.integers(1, 16),
    batch=st.integers(1, 4096),
    steps=st.lists(SPEEDS, min_size=1, max_size=8),
    data=st.data(),
)
def test_tf_cnn_benchmarks_is_read_back_however_many_ranks_were_heard(ranks, batch, steps, data):
    totals = data.draw(st.lists(SPEEDS, min_size=1, max_size=ranks))
    lines = render_tf_cnn(ranks, batch, steps, totals)
    found = WORKLOADS["tf_cnn_benchmarks"].parse("\n".join(lines), expected_ranks=ranks)
    assert usable(found), found["problems"]
    printed = [float(f"{total:.2f}") for total in totals]
    assert found["value"] == round(median(printed), 6)
    assert min(printed) <= found["value"] <= max(printed)
    assert (found["ranks"], found["batch_size"], found["details"]["totals_seen"]) == (ranks, batch, len(totals))
    assert found["iterations"] == [float(f"{speed:.1f}") for speed in steps]


@given(steps=st.lists(SPEEDS, min_size=1, max_size=4), total=SPEEDS, cut=st.floats(0, 1))
def test_a_log_of_tf_cnn_benchmarks_cut_before_its_total_is_never_a_result(steps, total, cut):
    text = "\n".join(render_tf_cnn(2, 64, steps, [total])[:-1])
    assert not usable(WORKLOADS["tf_cnn_benchmarks"].parse(text[: int(cut * (len(text) - 1))], expected_ranks=2))


ROWS = st.lists(
    st.tuples(st.integers(1, 10**12), *[st.floats(min_value=0.01, max_value=999)] * 6),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[0],
)


def render_nccl_tests(ranks, rows, root, stamp):
    """Print as nccl-tests do, with or without the columns that came later."""
    wrong = "#wrong" if root else "error"
    group = ["time", "algbw", "busbw", wrong]
    header = [
        "size",
        "count",
        "type",
        "redop",
        *(["root"] if root else []),
        *group,
        *group,
        *(["timestamp"] if stamp else []),
    ]
    lines = [f"#  Rank {rank:2d} Pid   {rank} on       gpu1 device {rank:2d} [0x3b] GPU" for rank in range(ranks)]
    lines.append("# " + "  ".join(f"{name:>10}" for name in header))
    for size, *numbers in rows:
        words = [size, size // 4, "float", "sum", *([-1] if root else [])]
        for place in (0, 3):
            words += [f"{numbers[place]:.2f}", f"{numbers[place + 1]:.2f}", f"{numbers[place + 2]:.2f}", 0]
        words += ["2026-01-15 10:20:30"] if stamp else []
        lines.append("  ".join(f"{word:>12}" for word in words))
    average = sum(row[3] + row[6] for row in rows) / (2 * len(rows))
    return [*lines, "# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {average:g} ", "#", ""]


@given(ranks=st.integers(1, 16), rows=ROWS, root=st.booleans(), stamp=st.booleans())
def test_nccl_tests_are_read_back_in_every_layout(ranks, rows, root, stamp):
    lines = render_nccl_tests(ranks, rows, root, stamp)
    found = WORKLOADS["nccl_tests"].parse("\n".join(lines), expected_ranks=ranks)
    assert usable(found), found["problems"]
    # The bus bandwidth out of place at the largest size.
    assert found["value"] == float(f"{max(rows)[3]:.2f}")
    assert found["details"]["average"] == float(lines[-3].split()[-1])
    assert found["ranks"] == ranks
    read = [
        (
            row["size"],
            *(row[place][name] for place in ("out_of_place", "in_place") for name in ("time_us", "algbw", "busbw")),
        )
        for row in found["details"]["rows"]
    ]
    assert read == [(size, *(float(f"{number:.2f}") for number in numbers)) for size, *numbers in rows]


@given(rows=ROWS, cut=st.floats(0, 1))
def test_a_log_of_nccl_tests_cut_before_the_end_of_its_average_is_never_a_result(rows, cut):
    text = "\n".join(render_nccl_tests(2, rows, True, False)[:-2])
    assert not usable(WORKLOADS["nccl_tests"].parse(text[: int(cut * len(text))], expected_ranks=2))


@given(
    numbers=st.lists(st.floats(min_value=1e-6, max_value=1e12), min_size=1, max_size=9),
    prefix=st.sampled_from(["", "[1,0]<stdout>:"]),
)
def test_a_users_pattern_reads_each_number_once(numbers, prefix):
    text = "".join(f"{prefix}speed={number!r}\nother\n" for number in numbers)
    found = WORKLOADS["command"].parse(text, options={"pattern": "^speed=(?P<value>.+)"})
    assert found["iterations"] == numbers


VALUES = (
    st.none() | st.booleans() | st.integers(-5, 2**40) | st.floats() | st.text(max_size=12) | st.lists(st.integers())
)
NAMES = st.sampled_from([*SETTINGS, "LIGHT_", "OTHER"])


@given(env=st.dictionaries(NAMES, VALUES), slots=st.lists(st.integers(1, 16), min_size=1, max_size=4))
def test_lightcc_is_checked_without_raising_and_what_passes_makes_an_environment(env, slots):
    if validate(env, slots):
        return
    added = group_size(env, slots)
    assert validate(dict(env, **added), slots) == []
    options = {"arm": ARMS["taco"], "env": dict({"LIGHT_2D_ALLREDUCE": 0}, **env)}
    made = environment(options, slots)
    assert {name: made[name] for name in env} == env


@given(
    value=st.dictionaries(
        st.sampled_from(["name", "label", "base", "env", "plugin", "horovod", "network", "before", "after", "x"]),
        VALUES,
    )
    | VALUES
)
def test_what_is_no_arm_is_always_said_to_be_none(value):
    try:
        arm = arm_of(value)
    except InvalidValueError as error:
        assert "benchmark_arm" in str(error)
    else:
        assert arm_of(arm) is arm
        assert all(isinstance(text, str) for text in arm.env.values())

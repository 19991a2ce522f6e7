# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whatever Horovod prints is read back; whatever else there is never raises."""

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import mpirun_command
from ansible_collections.taco.train.plugins.plugin_utils.workloads.horovod import parse

SPEEDS = st.lists(st.floats(min_value=1, max_value=100000), min_size=1, max_size=20)
NAMES = st.lists(st.from_regex(r"[a-z][a-z0-9-]{0,9}", fullmatch=True), min_size=1, max_size=6, unique=True)
PREFIXES = st.sampled_from(["", "[1,0]<stdout>:", "[12,0]<stdout>: "])
LINE_ENDS = st.sampled_from(["\n", "\r\n"])
NOISE = st.text(alphabet=st.characters(exclude_characters="\r\n"), max_size=30).map(lambda text: "noise " + text)


def render(model, batch_size, ranks, device, speeds):
    """Print as Horovod's script does."""
    mean = sum(speeds) / len(speeds)
    interval = 1.96 * (sum((speed - mean) ** 2 for speed in speeds) / len(speeds)) ** 0.5
    return [
        f"Model: {model}",
        f"Batch size: {batch_size}",
        f"Number of {device}s: {ranks}",
        "Running warmup...",
        "Running benchmark...",
        *(f"Iter #{number}: {speed:.1f} img/sec per {device}" for number, speed in enumerate(speeds)),
        f"Img/sec per {device}: {mean:.1f} +-{interval:.1f}",
        f"Total img/sec on {ranks} {device}(s): {ranks * mean:.1f} +-{ranks * interval:.1f}",
    ]


@given(
    model=st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,20}", fullmatch=True),
    batch_size=st.integers(1, 100000),
    ranks=st.integers(1, 4096),
    device=st.sampled_from(["GPU", "CPU"]),
    speeds=SPEEDS,
    prefix=PREFIXES,
    end=LINE_ENDS,
    noise=NOISE,
)
def test_what_is_printed_is_read_back(model, batch_size, ranks, device, speeds, prefix, end, noise):
    lines = render(model, batch_size, ranks, device, speeds)
    text = "".join(f"{prefix}{line}{end}{noise}{end}" for line in lines)
    found = parse(text, expected_ranks=ranks, device=device)
    assert found["problems"] == []
    assert (found["model"], found["batch_size"]) == (model, batch_size)
    assert (found["ranks"], found["device"]) == (ranks, device)
    assert found["iterations"] == [float(f"{speed:.1f}") for speed in speeds]
    assert render_interval(found["per_device"]) == lines[-2].partition(": ")[2]
    assert render_interval(found["total"]) == lines[-1].partition(": ")[2]


def render_interval(interval):
    return f"{interval['mean']:.1f} +-{interval['ci']:.1f}"


@given(speeds=SPEEDS, ranks=st.integers(1, 64), cut=st.floats(min_value=0, max_value=1))
def test_a_log_cut_before_its_end_is_never_a_result(speeds, ranks, cut):
    text = "\n".join(render("ResNet50", 256, ranks, "GPU", speeds))
    kept = text[: int(cut * (len(text) - 1))]
    assert parse(kept, expected_ranks=ranks)["problems"]


@given(names=NAMES, slots=st.integers(1, 16), values=st.dictionaries(NAMES.map("_".join), st.text() | st.none()))
def test_each_rank_and_each_variable_reaches_mpirun(names, slots, values):
    env = {name.replace("-", "_"): value for name, value in values.items()}
    argv = mpirun_command({"hosts": [{"name": n, "slots": slots} for n in names], "env": env, "command": ["x"]})
    assert int(argv[argv.index("-np") + 1]) == slots * len(names)
    assert argv[argv.index("-H") + 1].split(",") == [f"{name}:{slots}" for name in names]
    words = [argv[place + 1] for place, word in enumerate(argv[:-1]) if word == "-x" and argv[place - 1] != "-x"]
    assert words == [name if value is None else f"{name}={value}" for name, value in env.items()]

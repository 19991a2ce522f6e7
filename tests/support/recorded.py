# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records of one good run of each workload, made from a log of its real format by the real parser, for tests."""

import re
from pathlib import Path

from ansible_collections.taco.train.plugins.plugin_utils.comparison import comparison as comparison_results
from ansible_collections.taco.train.plugins.plugin_utils.comparison import schedule
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import read
from ansible_collections.taco.train.plugins.plugin_utils.run import record_file
from ansible_collections.taco.train.plugins.plugin_utils.run.options import checked, effective
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import OPTIONS, PLACES, plan
from ansible_collections.taco.train.plugins.plugin_utils.run.record import make_record

FIXTURES = Path(__file__).parents[1] / "fixtures"
LOGS = FIXTURES / "benchmarks"
TIME = "2026-01-31T12:00:00.000000Z"
COMMAND_LOG = "warm\n" + "".join(
    f"[1,0]<stdout>:throughput {speed} samples/s\n" for speed in (810, 812.5, 300, 811, 809)
)
NETWORK = "gpu1:2122:2137 [2] NCCL INFO Using network HARP\n"


def hosts(slots):
    return [{"name": "gpu1", "slots": slots}, {"name": "gpu2", "slots": slots}]


def real_logs():
    """The logs of tests/fixtures/logs by name: what is expected, as YAML, and the log."""
    found = {}
    for path in sorted((FIXTURES / "logs").glob("*.txt")):
        before, *parts = re.split(r"(?m)^=== (\w+)\n", path.read_bytes().decode())
        assert before == "", f"{path.name} begins without === and a name"
        for name, part in zip(parts[::2], parts[1::2]):
            head, _rule, log = part.partition("---\n")
            found[name] = head, log
    return found


# Workload -> (options, text of the log).
RUNS = {
    "horovod_synthetic": (
        {"model": "vgg16", "batch_size": 128, "framework": "pytorch", "hosts": hosts(8), "num_iters": 5},
        (LOGS / "horovod_pytorch.txt").read_text(),
    ),
    "tf_cnn_benchmarks": (
        {"model": "resnet50", "batch_size": 64, "script": "/b/tf_cnn_benchmarks.py", "hosts": hosts(1), "arm": "tcp"},
        (LOGS / "tf_cnn_benchmarks_horovod.txt").read_text(),
    ),
    "nccl_tests": (
        {"min_bytes": "1M", "max_bytes": "4M", "hosts": hosts(2)},
        NETWORK + (LOGS / "nccl_tests_2_18.txt").read_text(),
    ),
    "ttf_dynamic_embedding": ({"hosts": hosts(2)}, (LOGS / "ttf_step_counter.txt").read_text()),
    "command": (
        {
            "command": ["/opt/train.py"],
            "pattern": r"throughput (?P<value>[0-9.]+)",
            "unit": "samples/s",
            "hosts": hosts(1),
        },
        NETWORK + COMMAND_LOG,
    ),
}


def options_of(workload, **changes):
    given = {"arm": "harp", **RUNS[workload][0], "workload": workload, "run_dir": "/results/run-1", **changes}
    given = {name: value for name, value in given.items() if value is not None}
    return effective(checked(given, dict(OPTIONS, **PLACES)))


def record(workload, text=None, job=None, time=TIME, suffix="abc123", case=None, **changes):
    """Return the record of a run of a workload, as the action benchmark writes it."""
    options = dict(options_of(workload, **changes), case=case)
    planned = plan(options)
    job = dict({"stdout": RUNS[workload][1] if text is None else text, "rc": 0, "duration": 61.25}, **(job or {}))
    found, _reason = make_record(options, job, planned, "gpu1")
    identity = record_file.record_id(time, planned.arm.name, suffix)
    place = {"run": "run-1", "time": time, "argv": planned.argv, "notes": planned.notes, "log": f"logs/{identity}.log"}
    return dict(found, id=identity, **place)


def log_of(workload, speed, ranks, network):
    """Return a log of a workload's format with a speed per rank, or in GB/s at the largest size, and some noise."""
    head = f"gpu1:2122:2137 [0] NCCL INFO Using network {network}\n"
    if workload == "nccl_tests":
        return head + nccl_table(speed, ranks)
    speeds = [round(speed * (1 + change / 1000), 1) for change in (0, 4, -3, 6, -70, 2, -5, 1, 3, -2)]
    if workload == "tf_cnn_benchmarks":
        means = [sum(speeds[: place + 1]) / (place + 1) for place in range(len(speeds))]
        lines = [
            f"{10 * place or 1}\timages/sec: {mean:.1f} +/- 0.3 (jitter = 0.6)\t7.5\n"
            for place, mean in enumerate(means)
        ]
        devices = ", ".join(f"'horovod/gpu:{rank}'" for rank in range(ranks))
        sizes = f"Model:       resnet50\nBatch size:  {64 * ranks} global\n             64 per device\nDevices:     [{devices}]\n"
        return head + sizes + "".join(lines) + f"total images/sec: {means[-1] * ranks:.2f}\n"
    mean = sum(speeds) / len(speeds)
    lines = [f"Iter #{place}: {one:.1f} img/sec per GPU\n" for place, one in enumerate(speeds)]
    ends = f"Img/sec per GPU: {mean:.1f} +-{speed / 20:.1f}\nTotal img/sec on {ranks} GPU(s): {mean * ranks:.1f} +-{speed / 2:.1f}\n"
    return head + f"Model: ResNet50\nBatch size: 64\nNumber of GPUs: {ranks}\n" + "".join(lines) + ends


def nccl_table(peak, ranks):
    """Return the table of all_reduce_perf from 8 bytes to 128 MiB: latency bounds small messages, the network large ones."""
    head = "# Using devices\n"
    for rank in range(ranks):
        head += f"#  Rank {rank:2} Group  0 Pid   {4100 + rank} on       gpu1 device  {rank} [0000:3b:00] NVIDIA A100\n"
    group = "time   algbw   busbw  #wrong"
    head += f"#       size         count      type   redop    root     {group}     {group}\n"
    rows, total, factor = [], 0.0, 2 * (ranks - 1) / ranks
    for power in range(3, 28):
        seconds = 30e-6 + (1 << power) * factor / (peak * 1e9)
        busbw = (1 << power) * factor / seconds / 1e9
        numbers = f"{seconds * 1e6:.2f} {busbw / factor:.2f} {busbw:.2f} 0"
        rows.append(f" {1 << power} {1 << power - 2} float sum -1 {numbers} {numbers}\n")
        total += busbw
    return head + "".join(rows) + f"# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {total / len(rows):.4f} \n"


NETWORKS = {"taco": "HARP", "harp": "HARP", "tcp": "Socket"}


def comparison(workload, speeds, node_counts=(2,), **options):
    """Return (comparison.json, records) of arms on a workload; speeds is arm -> speed, and the machine slows down by 3 %."""
    gpus = hosts(4)
    given = dict({"workload": workload, "batch_size": 64, "model": "ResNet50"}, **options)
    spec = {"arms": list(speeds), "baseline": list(speeds)[-1], "repeats": 6, "node_counts": list(node_counts)}
    wanted = read(spec, gpus, checked(given, OPTIONS))
    runs = schedule.plan(wanted)
    found = []
    for place, run in enumerate(runs):
        speed = speeds[run.arm] * (1 - 0.03 * place / len(runs)) * (1 + 0.004 * (place * 7 % 5 - 2))
        text = log_of(workload, speed, run.case.ranks, NETWORKS[run.arm])
        case = {"id": run.case.id, "repeat": run.round, "warmup": run.warmup}
        used = [{"name": name, "slots": slots} for name, slots in run.case.hosts]
        time = f"2026-01-31T{12 + place * 2 // 60:02}:{place * 2 % 60:02}:00.000000Z"
        chosen = {name: value for name, value in run.case.options.items() if name != "workload"}
        chosen.update(arm=run.arm, hosts=used)
        found.append(record(workload, text, case=case, time=time, suffix=f"{place:06x}", **chosen))
    wrong = [one["problems"] for one in found if one["problems"]]
    assert not wrong, wrong[0]
    result = comparison_results.assemble(wanted, found, "default", line_rate_gbps=100.0)
    return dict(result, spec=spec), found

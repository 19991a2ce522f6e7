# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records of comparisons, as the runs of a cluster would have left them."""

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ARMS
from ansible_collections.taco.train.plugins.plugin_utils.comparison.schedule import plan

HOSTS = [{"name": "gpu1", "slots": 2}, {"name": "gpu2", "slots": 2}]
DEFAULTS = {"workload": "horovod_synthetic", "model": "ResNet50", "batch_size": 64, "env": {}, "script": None}
SYSTEM = {
    "driver": "535",
    "image": "taco@sha256:1",
    "interfaces": ["eth0", "eth1", "eth2"],
    "gpus": 2,
    "gpu_names": ["A100"],
    "instance_type": None,
    "hugepages": [],
    "kernel": "5.4.0",
    "kernel_line": "quiet",
    "cpus": 96,
    "memory_bytes": 1 << 38,
    "engine": "docker 24.0",
    "packages": {"light-horovod": "0.1"},
}
# How far runs of the same arm are from each other on a quiet machine.
JITTER = (0.0, 0.4, -0.3, 0.2, -0.2, 0.1, 0.3, -0.1)


def record(run, value, outcome="ok", system=SYSTEM, **other):
    """Return the record of a run of a plan that measured a value; series is around it."""
    case = run.case
    result = {
        "value": value,
        "unit": "images/s",
        "higher_is_better": True,
        "series": [value * 0.99, value, value * 1.01],
        "details": {},
    }
    return dict(
        {
            "id": f"{case.id}-{run.arm}-{run.round}".replace("/", "_"),
            "time": "2026-01-31T12:00:00.000000Z",
            "outcome": outcome,
            "arm": run.arm,
            "environment": dict(ARMS[run.arm].env) if run.arm in ARMS else {},
            "case": {"id": case.id, "repeat": run.round, "warmup": run.warmup},
            "hosts": [{"name": name, "slots": slots} for name, slots in case.hosts],
            "ranks": case.ranks,
            "parameters": dict(case.options),
            "result": result if outcome == "ok" else None,
            "problems": [] if outcome == "ok" else ["It burnt."],
            "lab": False,
            "log": "logs/one.log",
            "system": {name: dict(system) for name, _slots in case.hosts},
        },
        **other,
    )


def records(comparison, speeds):
    """Return a record of every run of a comparison; speeds is arm -> value, or a function of a run."""
    found = []
    environments = {arm.name: dict(arm.env) for arm in comparison.arms}
    for run in plan(comparison):
        speed = speeds(run) if callable(speeds) else speeds[run.arm]
        value = speed * (1 + JITTER[run.round % len(JITTER)] / 100)
        found.append(record(run, value, environment=environments[run.arm]))
    return found

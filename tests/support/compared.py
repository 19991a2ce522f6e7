# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A comparison and its records, for tests: three arms on two models, with one run that failed."""

import copy

LOSSY, BASE = "zebra", "tcp"
VGG, RESNET = "horovod_synthetic/VGG16/2x4/8", "horovod_synthetic/ResNet50/2x4/8"
SYSTEM = {
    "hostname": "gpu1",
    "os": "Debian 12",
    "kernel": "6.1",
    "cpus": 96,
    "memory_bytes": 96 * (1 << 30),
    "hugepages": [{"size_bytes": 1 << 30, "total": 20}],
    "gpus": 2,
    "gpu_names": ["V100"],
    "driver": "470.82",
    "engine": "docker 24",
    "interfaces": ["eth0", "eth1"],
    "image": "registry/image@sha256:abc",
    "packages": {"light-horovod": "0.1"},
}


def run(record, repeat, value, series=()):
    place = {"record": record, "repeat": repeat, "number": 4 * repeat + 1, "warmup": repeat == 0}
    return {**place, "value": value, "series": list(series)}


def measured(arm, prefix, speed):
    runs = [run(f"{prefix}{repeat}", repeat, speed + repeat, [speed, speed + 2 * repeat]) for repeat in range(3)]
    return {"arm": arm, "runs": runs, "median": speed + 1.5, "low": speed + 1, "high": speed + 2, "failed": 0}


def against_base(arm, ratio, verdict, more, half=0.1):
    interval = {"low": ratio - half, "high": ratio + half}
    counts = {"p": 0.0079, "runs": [5, 4], "more_repeats": more}
    return {
        "arm": arm,
        "baseline": BASE,
        "ratio": ratio,
        "verdict": verdict,
        "reason": f"Why {verdict}.",
        **interval,
        **counts,
    }


def case(identity, model, arms, comparisons):
    size = {"nodes": 2, "ranks": 4, "batch_size": 8, "unit": "images/s", "higher_is_better": True}
    names = {"id": identity, "workload": "horovod_synthetic", "model": model, "parameters": 138357544}
    return {**names, **size, "arms": arms, "comparisons": comparisons, "expected": [], "published": []}


def arm(name, label, lossy=False, plugin="on", **environment):
    return {
        "name": name,
        "label": label,
        "lossy": lossy,
        "environment": environment,
        "plugin": plugin,
        "horovod": "image",
    }


def point(ranks, value, efficiency):
    ends = {"low": efficiency - 0.02, "high": efficiency + 0.02}
    return {"nodes": max(1, ranks // 2), "ranks": ranks, "value": value, "efficiency": efficiency, **ends}


def comparison(**changes):
    vgg = case(
        VGG,
        "VGG16",
        [measured(LOSSY, "a", 100.0), measured("harp", "b", 60.0), measured(BASE, "c", 50.0)],
        [against_base(LOSSY, 2.1, "better", 0), against_base("harp", 1.2, "inconclusive", 7, half=0.25)],
    )
    vgg["arms"][0]["runs"].append(run("a3", 3, None))
    vgg["arms"][0]["failed"] = 1
    vgg["expected"] = [
        {"arm": LOSSY, "bytes": 1234567.0, "seconds": 0.05, "measured_seconds": 0.32},
        {"arm": BASE, "bytes": 12345678, "seconds": 0.5, "measured_seconds": 0.64},
    ]
    resnet = case(
        RESNET,
        "ResNet50",
        [measured(LOSSY, "d", 500.0), measured(BASE, "e", 495.0)],
        [against_base(LOSSY, 1.01, "equivalent", 0, half=0.01)],
    )
    resnet["published"] = [
        {
            "label": "Horovod + TCP",
            "value": 5504.0,
            "unit": "images/s",
            "ranks": 16,
            "source": "vendor's page, 2 x A100 hosts",
        }
    ]
    line = {"workload": "horovod_synthetic", "model": "VGG16", "batch_size": 8, "unit": "images/s", "basis": "1 GPU"}
    found = {
        "schema": 1,
        "name": "default",
        "spec": {"repeats": 5},
        "lab": False,
        "complete": True,
        "confidence": 0.95,
        "min_effect": 0.03,
        "planned": 16,
        "done": 16,
        "failed": 1,
        "started": "2026-01-31T12:00:00Z",
        "ended": "2026-01-31T13:00:00Z",
        "sentence": "LightCC is better by 2.10x.",
        "question": "Does it train faster?",
        "baseline": BASE,
        "arms": [
            arm(LOSSY, "LightCC and HARP", lossy=True, LIGHT_TOPK_ALLREDUCE="1", LIGHT_TOPK_RATIO=None),
            arm("harp", "Horovod and HARP"),
            arm(BASE, "Horovod over kernel TCP", plugin="off"),
        ],
        "unlike": [],
        "cases": [vgg, resnet],
        "scaling": [
            {"arm": LOSSY, **line, "points": [point(1, 30.0, 1.0), point(4, 100.0, 0.83)]},
            {"arm": BASE, **line, "points": [point(1, 30.0, 1.0), point(4, 50.0, 0.42)]},
        ],
        "bus_bandwidth": [
            {
                **{"arm": BASE, "case": VGG, "value_gbps": 20.0, "line_rate_gbps": 25.0, "share": 0.8},
                "sizes": [{"size": 1 << 20, "gb_per_s": 1.5}, {"size": 1 << 27, "gb_per_s": 2.5}],
            }
        ],
        "failures": [
            {"record": "a3", "arm": LOSSY, "case": VGG, "problems": ["It broke."], "log": "logs/a3.log"},
        ],
        "systems": {"gpu1": SYSTEM, "gpu2": dict(SYSTEM, hostname="gpu2")},
        "regression": None,
    }
    return copy.deepcopy(dict(found, **changes))


def regression(**changes):
    """The result of a regression check: one arm became slower, and the hosts differ."""
    judged = [against_base(LOSSY, 0.9, "worse", 0), against_base("harp", 1.01, "equivalent", 0)]
    found = {
        "baseline": "/results/old/comparison.json",
        "comparisons": [dict(one, case=VGG) for one in judged],
        "worse": [f"{LOSSY} on {VGG}: 0.90 times what it was"],
        "better": [],
        "fails": [f"{LOSSY} on {VGG}: 0.90 times what it was"],
        "unlike": ["the GPU driver of gpu1 is 550 now and was 535.", "gpu2 took no part then."],
    }
    return dict(found, **changes)


VERDICT = {
    "summary": {"pass": 7, "fail": 0, "warn": 1, "skip": 2},
    "hosts": {
        "gpu1": {"checks": [{"id": "disk.free", "status": "warn", "expected": "50", "found": "40", "fix": "make room"}]}
    },
    "fleet": [],
}


def record(identity, name, **changes):
    good = {
        "schema": 1,
        "id": identity,
        "outcome": "ok",
        "arm": name,
        "parameters": {"launcher": "gpu1"},
        "argv": ["mpirun", "-np", "4", "-x", f"RUN={identity} |", "python3", "s.py"],
        "problems": [],
        "notes": ["top-k is lossy."],
        "network": "HARP",
        "network_line": "gpu1:7:9 [0] NCCL INFO Using network HARP",
        "system": {"gpu1": SYSTEM, "gpu2": dict(SYSTEM, hostname="gpu2")},
    }
    return copy.deepcopy(dict(good, **changes))


def records():
    found = [
        record(one["record"], arm["arm"])
        for place in comparison()["cases"]
        for arm in place["arms"]
        for one in arm["runs"]
        if one["value"] is not None
    ]
    return [*found, record("a3", LOSSY, outcome="failed")]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the counters of an ordinary run save a search, on simulated fleets, and what they cost on this machine."""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import yaml
from simulated_counters import happened
from simulated_fleet import Fleet, draw_faults, rounds_until_accused

from ansible_collections.taco.train.plugins.module_utils._process import sampler
from ansible_collections.taco.train.plugins.modules import counters
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.outliers import outliers

SIZES = (8, 16, 32, 64)
LEAST, MOST_ROUNDS = 0.25, 12
RUN_SECONDS = 60.0
"""A short run, as a search has them."""
REPEATS = 5
TASKS = Path(counters.__file__).parents[2] / "roles/benchmark/tasks"


def rounds_to_name(seed):
    """The rounds until a search accuses the host with the fault, after a run whose counters are known."""
    rng = random.Random(f"witnesses {seed}")
    size, noise = rng.choice(SIZES), rng.uniform(0.01, 0.05)
    names = Fleet(rng, size, noise).hosts
    (fault,) = draw_faults(rng, names, 1, LEAST)
    named = dict.fromkeys(one.host for one in outliers(happened(rng, names, {fault.host: fault})))
    return rounds_until_accused(Fleet(rng, size, noise, [fault]), fault.host, named, rounds=MOST_ROUNDS) or MOST_ROUNDS


def executions():
    """The tasks of a run that read counters on a host."""
    tasks = [task for path in TASKS.glob("counters_*.yml") for task in yaml.safe_load(path.read_text(encoding="utf-8"))]
    return sum(task.get("taco.train.counters", {}).get("state") in ("started", "ended") for task in tasks)


def share_of_a_run():
    """The CPU time of both executions and of the samples between them, of a run, as a share. The median of several."""
    return median(_seconds() for _repeat in range(REPEATS)) / RUN_SECONDS


def _seconds():
    with tempfile.TemporaryDirectory() as folder:
        began = _children()
        for state in ("started", "ended"):
            arguments = Path(folder, "arguments.json")
            arguments.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": {"state": state, "state_dir": folder}}))
            argv = [sys.executable, counters.__file__, str(arguments)]
            subprocess.run(
                argv, check=True, capture_output=True, env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
            )
        both = _children() - began
    sample, began = counters.Sampling(), time.process_time()
    sample()
    return both + (time.process_time() - began) * _samples()


def _samples():
    """The number of samples of a run."""
    count, seconds = 0, 0.0
    while seconds < RUN_SECONDS:
        count, seconds = count + 1, seconds + sampler.pause_after(seconds)
    return count


def _children():
    """The CPU time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

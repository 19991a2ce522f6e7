# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn the options of a run into the one command that the launcher executes. Values in, values out."""

import shlex
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._process.ranks import LOCK
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import MPIRUN, mpirun_command
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.wrapper import folders_of, unprepared, wrapped
from ansible_collections.taco.train.plugins.plugin_utils.text import grouped
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads import registry
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import COMMON
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import PLATFORMS
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import Workload

LAB_NOTE = "lab: these numbers are from a lab and say nothing about GPUs."
# The name by which mpirun starts ranks where it runs itself.
LOCALHOST = "localhost"
# Seconds between SIGTERM and SIGKILL.
KILL_AFTER = 10

# These make up the parameters of a record, and a comparison may set each of them.
OPTIONS: Dict[str, Dict[str, Any]] = {name: option.spec for name, option in registry.OPTIONS.items()}
OPTIONS.update(
    (name, dict(OPTIONS[name], default=option.default))
    for name, option in registry.OPTIONS.items()
    if name == "workload" or name in COMMON
)
# How a run is reached and where it is kept.
PLACES: Dict[str, Dict[str, Any]] = {
    "arm": {"type": "raw", "default": "taco"},
    "hosts": {"type": "list", "elements": "dict", "default": []},
    "exec_prefix": {"type": "list", "elements": "str", "default": []},
    "mpirun": {"type": "str", "default": MPIRUN},
    "run_dir": {"type": "str", "required": True},
    "target_log_dir": {"type": "str", "default": "/var/lib/taco-train/logs"},
    "platform": {"type": "str", "choices": list(PLATFORMS), "default": "cvm"},
    "local": {"type": "bool", "default": False},
    "lab": {"type": "bool", "default": False},
    "workers": {"type": "dict", "default": {}},
    "not_ready": {"type": "dict", "default": {}},
    "scripts": {"type": "list", "elements": "dict", "default": []},
    "case": {"type": "dict"},
    "label": {"type": "str"},
    "runs_left": {"type": "int", "default": 0},
    "progress": {"type": "bool", "default": True},
    "progress_interval": {"type": "float", "default": 2.0},
    "fail_on_bad_run": {"type": "bool", "default": True},
}


# What each run of a list of runs has of its own.
OF_EACH_RUN: Dict[str, Dict[str, Any]] = {name: PLACES[name] for name in ("arm", "hosts", "case", "label", "runs_left")}

# The file with the process id of the benchmark that holds the lock of a training container.
PID_FILE = "/tmp/taco-train.pid"
# Seconds that a run may wait for one that is being ended.
LOCK_SECONDS = 15
# The exit status when another run holds the container.
LOCKED_STATUS = 75


class RunPlan(NamedTuple):
    """A run before it is begun."""

    argv: List[str]
    arm: Arm
    ranks: int
    notes: List[str]
    mpi: bool
    env: Dict[str, Optional[str]]
    """The effective environment of the ranks; None exports the launcher's value."""


def _by_mpirun(workload: Workload, spec: Dict[str, Any]) -> List[str]:
    return mpirun_command(dict(spec, env=workload.env, mca=workload.mca, command=workload.command))


def _alone(workload: Workload, _spec: Dict[str, Any]) -> List[str]:
    """Return the command of a run without mpirun."""
    env = [f"{name}={value}" for name, value in workload.env.items() if value is not None]
    return (["env", *env] if env else []) + list(workload.command)


def _prepared(workload: Workload, argv: List[str]) -> List[str]:
    """Return the command in its folder, after what an earlier run left there was removed."""
    steps = [f"cd {shlex.quote(workload.chdir)}"] if workload.chdir else []
    steps += [f"rm -f -- {shlex.join(workload.cleanup)}"] if workload.cleanup else []
    return ["sh", "-c", " && ".join([*steps, f"exec {shlex.join(argv)}"])] if steps else argv


def plan(options: Dict[str, Any]) -> RunPlan:
    """The plan of a run with its effective options, whose arm is an Arm.

    Raises InvalidValueError.
    """
    if options["timeout"] < 1:
        raise InvalidValueError(f"benchmark_timeout is {options['timeout']}; it must be 1 or more.")
    arm = options["arm"]
    spec = {"hosts": options["hosts"], "mpirun": options["mpirun"], "command": ["true"]}
    try:
        mpirun_command(spec)  # what is wrong with the hosts comes before what their slots mean
    except InvalidValueError as error:
        origin = "Hosts and slots are those of benchmark_hosts, or the play's hosts and taco_gpus_per_node."
        raise InvalidValueError(f"{error} {origin}") from error
    slots = [int(host["slots"]) for host in options["hosts"]]
    if options["local"]:
        spec["hosts"] = local_host(slots)
    workload = WORKLOADS[options["workload"]].build(options, slots)
    folders = folders_of(arm, options["workers"], workload.mpi)
    workload = workload._replace(command=wrapped(workload.command, folders))
    # mpirun starts the ranks in the folder that it is started in, on every host.
    start = _by_mpirun if workload.mpi else _alone
    argv = _prepared(workload, start(workload, spec))
    if options["exec_prefix"]:
        # In the foreground it sends one SIGTERM, to mpirun alone. Otherwise it sends two, and at the second mpirun leaves its
        # ranks running. What isn't mpirun gets it with all that it has started.
        foreground = ["--foreground"] if workload.mpi else []
        limit = ["timeout", *foreground, "-k", str(KILL_AFTER), str(options["timeout"])]
        argv = options["exec_prefix"] + limit + argv
    notes = list(workload.notes) + ([LAB_NOTE] if options["lab"] else [])
    return RunPlan(argv, arm, sum(slots) if workload.mpi else 1, notes, workload.mpi, dict(workload.env))


def local_host(slots: List[int]) -> List[Dict[str, Any]]:
    """Return the host of a run in one container without the network of its host: mpirun would reach any other name by SSH."""
    if len(slots) > 1:
        raise InvalidValueError(
            f"the container does not share the network of its host, and there are {len(slots)} hosts: give one in benchmark_hosts, "
            "or set training_container_profile to lightcc or harp."
        )
    return [{"name": LOCALHOST, "slots": slots[0]}]


def require_no_place(arm: Arm) -> None:
    """Refuse an arm with a place for a single run: where the workers are is not known there."""
    if arm.place:
        raise InvalidValueError(
            f"arm {arm.name} has its workers placed ({arm.place}): run playbooks/ack.yml, or set benchmark_arm to one without a "
            "place."
        )


def guarded(argv: List[str], exec_prefix: List[str]) -> Tuple[List[str], List[str]]:
    """Return the command that runs alone in its container, and the one that ends it there.

    Ending `docker exec` leaves what it started, which would then take part in the next measurement.
    """
    if not exec_prefix:
        return argv, []
    note = ["sh", "-c", f'echo $$ > {PID_FILE}; exec "$@"', "sh"]
    # Not handed on: what a run leaves behind must not hold it after the run.
    lock = ["flock", "-o", "-w", str(LOCK_SECONDS), "-E", str(LOCKED_STATUS), LOCK]
    return [*exec_prefix, *lock, *note, *argv[len(exec_prefix) :]], [
        *exec_prefix,
        "sh",
        "-c",
        f"kill $(cat {PID_FILE})",
    ]


def not_active(arm: Arm, workers: Dict[str, Any], not_ready: Dict[str, str], mpi: bool = True) -> Optional[str]:
    """Return the workers on which the arm is not active, each with the error or the reason in not_ready."""
    reasons = unprepared(arm, workers, mpi)
    reasons.update({host: reason for host, reason in not_ready.items() if reason})
    text = "; ".join(grouped(reasons.items()))
    return f"the arm is not active on {text}" if text else None

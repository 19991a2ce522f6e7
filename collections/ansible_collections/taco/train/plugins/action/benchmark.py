# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a benchmark on the launcher, and record on the controller what came of it."""

import os
import shlex
import uuid
from datetime import datetime, timezone

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils import arms, records, run_reason
from ansible_collections.taco.train.plugins.plugin_utils.mpirun import MPIRUN, MpirunError, mpirun_command
from ansible_collections.taco.train.plugins.plugin_utils.workload import WorkloadError
from ansible_collections.taco.train.plugins.plugin_utils.workloads import WORKLOADS

LAB_NOTE = "lab: these numbers are from a lab and say nothing about GPUs."
# The module's own limit is only for when the one inside the container didn't hold: it waits for that one's SIGKILL.
# Arms whose number is about HARP, which NCCL says by a network of its own.
ARMS_WITH_HARP = ("taco", "harp")
KILL_AFTER = 10
OUTER_SECONDS = 30
# The exit status of timeout(1) when it ended the command, and when it had to kill it.
TIMEOUT_STATUS = (124, 137)
MAX_OUTPUT_BYTES = 8 * 1024 * 1024

ARGUMENTS = {
    "workload": {"type": "str", "choices": ["horovod_synthetic"], "default": "horovod_synthetic"},
    "arm": {"type": "str", "choices": ["taco", "harp", "tcp", "horovod"], "default": "taco"},
    "hosts": {"type": "list", "elements": "dict", "required": True},
    "exec_prefix": {"type": "list", "elements": "str", "default": []},
    "mpirun": {"type": "str", "default": MPIRUN},
    "interface": {"type": "str", "default": "eth0"},
    "script": {"type": "str", "default": "/mnt/tensorflow_synthetic_benchmark.py"},
    "model": {"type": "str", "default": "ResNet50"},
    "batch_size": {"type": "int", "default": 256},
    "num_iters": {"type": "int", "default": 10},
    "num_warmup_batches": {"type": "int", "default": 10},
    "num_batches_per_iter": {"type": "int", "default": 10},
    "extra_args": {"type": "list", "elements": "str", "default": []},
    "env": {"type": "dict", "default": {}},
    "mca": {"type": "dict", "default": {}},
    "device": {"type": "str", "choices": ["GPU", "CPU"], "default": "GPU"},
    "timeout": {"type": "int", "default": 1800},
    "run_dir": {"type": "str", "required": True},
    "target_log_dir": {"type": "str", "default": "/var/lib/taco-train/logs"},
    "lab": {"type": "bool", "default": False},
    "system": {"type": "dict", "default": {}},
}
PARAMETERS = (
    *("interface", "script", "model", "batch_size", "num_iters", "num_warmup_batches", "num_batches_per_iter"),
    *("extra_args", "env", "mca", "device", "timeout"),
)


def plan(options):
    """Return the command of a run, how many ranks it has, and what to say about it."""
    if options["timeout"] < 1:
        raise WorkloadError(f"benchmark_timeout is {options['timeout']}; it must be 1 or more.")
    spec = {"hosts": options["hosts"], "mpirun": options["mpirun"], "command": ["true"]}
    mpirun_command(spec)  # what is wrong with the hosts comes before what their slots mean
    slots = [int(host["slots"]) for host in options["hosts"]]
    workload = WORKLOADS[options["workload"]].build(dict(options, arm=arm_in_image(options["arm"])), slots)
    argv = mpirun_command(dict(spec, env=workload.env, mca=workload.mca, command=workload.command))
    if options["exec_prefix"]:
        # In the foreground it sends one SIGTERM. Otherwise it sends two, and at the second mpirun leaves its ranks running.
        limit = ["timeout", "--foreground", "-k", str(KILL_AFTER), str(options["timeout"])]
        argv = options["exec_prefix"] + limit + argv
    return argv, sum(slots), workload.notes + ([LAB_NOTE] if options["lab"] else [])


def arm_in_image(name):
    """Return an arm that needs nothing but its environment, or raise for one that does."""
    arm = arms.arm_of(name)
    if not arm.as_in_image:
        usable = " or ".join(known.name for known in arms.ARMS.values() if known.as_in_image)
        raise WorkloadError(
            f"Arm {arm.name} ({arm.label}) needs the workers' acceleration changed, which this version doesn't do: "
            f"set benchmark_arm to {usable}."
        )
    return arm


def ran_out_of_time(options, job):
    """Return whether the run was ended by a limit, this one or the one inside the container."""
    inside = options["exec_prefix"] and job.get("rc") in TIMEOUT_STATUS
    return bool(job.get("timed_out") or (inside and job.get("duration", 0) >= options["timeout"]))


def make_record(options, job, ranks, launcher):
    """Return the record of a finished run, and why it failed if it did."""
    text = job.get("stdout", "")
    parsed = WORKLOADS[options["workload"]].parse(text, expected_ranks=ranks, device=options["device"])
    timed_out = ran_out_of_time(options, job)
    if job.get("failed"):
        # The command did not end by itself, so its output has nothing to be judged by.
        reason = run_reason.Reason(str(job.get("msg", "the module failed")).rstrip("."), fix_of_failed_start(options))
        found = []
    else:
        found = parsed["problems"] + without_the_plugin(options["arm"], parsed["network"])
        reason = run_reason.reason(text, job.get("rc"), timed_out, options["timeout"], found)
    problems = (
        [sentence(reason.found)] if reason and (job.get("failed") or timed_out or job.get("rc")) else []
    ) + found
    result = {key: parsed[key] for key in ("model", "batch_size", "device", "iterations", "per_device", "total")}
    record = {
        "schema": records.SCHEMA,
        "outcome": "failed" if reason else "ok",
        "timed_out": timed_out,
        "arm": options["arm"],
        "workload": options["workload"],
        "parameters": dict({key: options[key] for key in PARAMETERS}, launcher=launcher),
        "hosts": [{"name": str(host["name"]), "slots": int(host["slots"])} for host in options["hosts"]],
        "ranks": ranks,
        "duration_s": job.get("duration"),
        "result": None if reason else result,
        "problems": problems,
        "lab": options["lab"],
        "network": parsed["network"],
        "system": {str(host): records.system_of(node) for host, node in options["system"].items()},
    }
    return record, reason


def without_the_plugin(arm, network):
    """Return what is wrong with a run of an arm that stands for HARP whose log says that NCCL used the kernel's TCP."""
    if arm in ARMS_WITH_HARP and "Socket" in (network or "").split(", "):
        return [
            f"NCCL used network {network}, so HARP was not in use and the number is not one of arm {arm}: look for the plugin "
            "libnccl-net.so and for ztcp*.conf in the container, or set benchmark_arm"
        ]
    return []


def fix_of_failed_start(options):
    if options["exec_prefix"]:
        return f"check {options['exec_prefix'][0]} there (role container_engine), or set benchmark_exec_prefix"
    return "set benchmark_mpirun to the path of mpirun, and check that the host can be reached"


def sentence(text):
    return text[:1].upper() + text[1:].rstrip(".") + "."


class ActionModule(ActionBase):
    """Read the options, run, record, judge."""

    _supports_check_mode = True
    _requires_connection = True

    def run(self, tmp=None, task_vars=None):
        super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENTS)
        launcher = str(self._task.delegate_to or task_vars["inventory_hostname"])
        try:
            argv, ranks, notes = plan(options)
        except MpirunError as error:
            origin = "Hosts and slots are those of benchmark_hosts, or the play's hosts and taco_gpus_per_node."
            return {"failed": True, "msg": f"The benchmark can't be run: {error} {origin}"}
        except WorkloadError as error:
            return {"failed": True, "msg": f"The benchmark can't be run: {error}"}
        if self._task.check_mode:
            message = f"Check mode: {launcher} would run {shlex.join(argv)}"
            # A skipped task's message stays unseen without -v, and it is all there is to see of this one.
            self._display.display(message)
            return {"changed": False, "skipped": True, "argv": argv, "msg": message}
        try:
            return self.run_and_record(options, argv, ranks, notes, launcher, task_vars)
        except records.RecordError as error:
            return {"failed": True, "msg": str(error), "argv": argv}

    def run_and_record(self, options, argv, ranks, notes, launcher, task_vars):
        run_dir = os.path.abspath(os.path.expanduser(options["run_dir"]))
        # A run takes half an hour; that its result can't be kept is better known before.
        records.make_directory(os.path.join(run_dir, "logs"))
        records.point_latest(run_dir)
        time = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        identity = records.record_id(time, options["arm"], uuid.uuid4().hex[:6])
        job = self.execute(options, argv, identity, task_vars)
        record, reason = make_record(options, job, ranks, launcher)
        log = f"logs/{identity}.log"
        path = os.path.join(run_dir, log)
        records.write_text(path, job.get("stdout") or str(job.get("msg", "")) + "\n", records.OWNER_ONLY)
        record.update(id=identity, run=os.path.basename(run_dir), time=time, argv=argv, notes=notes, log=log)
        records.append(run_dir, record)
        result = {"changed": "rc" in job, "argv": argv, "record": record, "log": path}
        if reason:
            expected = f"{ranks} ranks on {len(options['hosts'])} hosts and a total"
            result["failed"] = True
            result["msg"] = (
                f"The benchmark on launcher {launcher} failed: expected {expected}, but {reason.found}. "
                f"To fix it, {reason.fix}. Log: {path}"
            )
        return result

    def execute(self, options, argv, identity, task_vars):
        """Run the command on the launcher: the one execution there. A lost connection is a failed run like any other."""
        arguments = {
            "argv": argv,
            "timeout": options["timeout"] + (OUTER_SECONDS if options["exec_prefix"] else 0),
            "grace": KILL_AFTER,
            "log_path": os.path.join(options["target_log_dir"], identity + ".log"),
            "max_output_bytes": MAX_OUTPUT_BYTES,
        }
        try:
            return self._execute_module(
                module_name="taco.train.command_job", module_args=arguments, task_vars=task_vars
            )
        except AnsibleConnectionFailure as error:
            return {"failed": True, "msg": f"the connection to it was lost: {error}"}

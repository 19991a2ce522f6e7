# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make of what a run printed the record that is kept of it. Values in, values out."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import as_text
from ansible_collections.taco.train.plugins.plugin_utils.explain.problems import explain_problems
from ansible_collections.taco.train.plugins.plugin_utils.explain.symptoms import Explanation, explain
from ansible_collections.taco.train.plugins.plugin_utils.run import needs, store
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import LOCKED_STATUS, RunPlan
from ansible_collections.taco.train.plugins.plugin_utils.run.spread import spread
from ansible_collections.taco.train.plugins.plugin_utils.workloads import nccl_log, script
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import lines_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS, own_options

# The exit status of timeout(1) when it ended the command, and when it had to kill it.
TIMEOUT_STATUS = (124, 137)
MOST_OF_A_LINE = 300
LOCKED = "Another benchmark holds the training container"
RESULT = (
    *(
        "value",
        "unit",
        "higher_is_better",
        "series",
        "model",
        "batch_size",
        "device",
        "iterations",
        "per_device",
        "total",
    ),
    "details",
)


class Facts(NamedTuple):
    """What a record says of the hosts of a play, by host."""

    system: Mapping[str, Any] = {}
    placement: Mapping[str, Any] = {}
    """The node of a pod, with its GPUs where they are known; empty for other hosts."""


NO_FACTS = Facts()


def ran_out_of_time(options: Dict[str, Any], job: Dict[str, Any]) -> bool:
    """Return whether the run was ended by a limit, this one or the one inside the container."""
    inside = options["exec_prefix"] and job.get("rc") in TIMEOUT_STATUS
    return bool(job.get("timed_out") or (inside and job.get("duration", 0) >= options["timeout"]))


def fix_of_failed_start(options: Dict[str, Any], said: str) -> str:
    """Return what to do about a command that could not be run; said is what the module says."""
    if not said.startswith("Can't run"):
        return "look at what it says; running it again does no harm"
    if options["exec_prefix"]:
        return f"check {options['exec_prefix'][0]} there (role container_engine), or set benchmark_exec_prefix"
    return "set benchmark_mpirun to the path of mpirun, and check that the host can be reached"


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def result_of(parsed: Dict[str, Any], options: Dict[str, Any], plan: RunPlan) -> Dict[str, Any]:
    """Return the result of a good run, with how much its iterations differ."""
    result = {key: parsed[key] for key in RESULT}
    return dict(result, spread=spread(WORKLOADS[options["workload"]].running_mean, result, options, plan.ranks))


def measures(options: Dict[str, Any], plan: RunPlan) -> Dict[str, Any]:
    """Return what a run measures, in words, so that a page needs nothing but the record."""
    kind = WORKLOADS[options["workload"]]
    value = (kind.total if options.get("total_pattern") else None) or kind.value
    words = {"subject": kind.subject(options), "value": value, "iteration": kind.iteration}
    return dict(words, running_mean=kind.running_mean, mpi=plan.mpi)


def network_line(text: str) -> Optional[str]:
    """Return the first log line in which NCCL names its network, as proof of what the record holds."""
    found = next((line for line in lines_of(text) if nccl_log.networks([line])), None)
    return found.strip()[:MOST_OF_A_LINE] if found else None


def script_of(options: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """Return the script of a run: where it comes from, where the workers have it, and its content; None without one."""
    path = needs.needs(script.with_delivered(options)).get(needs.SCRIPT)
    if path is None:
        return None
    one = script.delivered(options, options["scripts"])
    sha256 = one["sha256"] if one else needs.script_sha256(options, options["workers"])
    return {"source": one["source"] if one else None, "path": path, "sha256": sha256}


def _failure(
    options: Dict[str, Any], job: Dict[str, Any], parsed: Dict[str, Any], plan: RunPlan
) -> Tuple[Optional[Explanation], List[str]]:
    """Why a run failed, None if it did not, and the problems of what it printed."""
    if job.get("failed"):
        # The command did not end by itself, so its output has nothing to be judged by.
        said = str(job.get("msg", "the module failed")).rstrip(".")
        return Explanation(said, job.get("fix") or fix_of_failed_start(options, said)), []
    text, timed_out = job.get("stdout", ""), ran_out_of_time(options, job)
    # Where ranks don't run on GPUs there need not be any NCCL, and one host needs no network.
    proof_required = plan.mpi and options["device"] == "GPU" and len(options["hosts"]) > 1
    unproved = nccl_log.unproved(plan.arm, parsed["network"], text, proof_required)
    problems = parsed["problems"] + ([": ".join(unproved)] if unproved else [])
    hosts = [str(host["name"]) for host in options["hosts"]]
    if timed_out or job.get("rc"):
        locked = options["exec_prefix"] and job.get("rc") == LOCKED_STATUS and not text.strip()
        return explain(LOCKED if locked else text, job.get("rc"), timed_out, options["timeout"], hosts), problems
    if unproved and not parsed["problems"]:
        return explain_problems(text, [unproved[0]], hosts, unproved[1]), problems
    return explain_problems(text, problems, hosts) if problems else None, problems


def make_record(
    options: Dict[str, Any], job: Dict[str, Any], plan: RunPlan, launcher: str, facts: Facts = NO_FACTS
) -> Tuple[Dict[str, Any], Optional[Explanation]]:
    """Return the record of a finished run, and why it failed if it did."""
    text = job.get("stdout", "")
    expected = plan.ranks if plan.mpi else None
    parsed = WORKLOADS[options["workload"]].parse(
        text, expected_ranks=expected, device=options["device"], options=options
    )
    timed_out = ran_out_of_time(options, job)
    reason, found = _failure(options, job, parsed, plan)
    broken = job.get("failed") or timed_out or job.get("rc")
    record = {
        "schema": store.SCHEMA,
        "outcome": "failed" if reason else "ok",
        "timed_out": timed_out,
        "arm": plan.arm.name,
        "arm_spec": plan.arm._asdict(),
        "case": options["case"],
        "workload": options["workload"],
        "measures": measures(options, plan),
        "parameters": dict(own_options(options), launcher=launcher),
        "script": script_of(options),
        "hosts": [{"name": str(host["name"]), "slots": int(host["slots"])} for host in options["hosts"]],
        "ranks": plan.ranks,
        "duration_s": job.get("duration"),
        "environment": {name: None if value is None else as_text(value) for name, value in sorted(plan.env.items())},
        "result": None if reason else result_of(parsed, options, plan),
        "problems": ([sentence(reason.found)] if reason and broken else []) + found,
        "lab": options["lab"],
        "network": parsed["network"],
        "network_line": network_line(text) if parsed["network"] else None,
        "system": facts.system,
    }
    # Only of pods: elsewhere a host is a node.
    placement = {str(pod): place for pod, place in facts.placement.items() if place}
    return (dict(record, placement=placement) if placement else record), reason

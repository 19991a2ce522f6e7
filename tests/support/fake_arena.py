#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Arena as far as the collection uses it, for tests: it knows the real one's flags and no others, and keeps its jobs in a file.

The flags are those of https://github.com/kubeflow/arena, pkg/commands and pkg/argsbuilder, the JSON is that of
pkg/apis/types. FAKE_ARENA names the folder: calls.jsonl gets every call, jobs.json holds the jobs, plan.json says how a job
fares: {"statuses": [...one for each get], "nodes": {pod: node}, "log": text, "submit_fails": text}.
"""

import argparse
import json
import os
import sys
from pathlib import Path

FOLDER = Path(os.environ["FAKE_ARENA"])
TRUTHS = {"true": True, "false": False}


def truth(text):
    return TRUTHS[text]


def common(parser):
    parser.add_argument("--namespace", "-n", default="")
    parser.add_argument("--config", default="")


def parsers():
    top = argparse.ArgumentParser(prog="arena", allow_abbrev=False)
    verbs = top.add_subparsers(dest="verb", required=True)
    submit = verbs.add_parser("submit").add_subparsers(dest="type", required=True)
    mpi = submit.add_parser("mpi", aliases=["mpijob", "mj"], allow_abbrev=False)
    common(mpi)
    mpi.add_argument("--name", required=True)
    mpi.add_argument("--image", required=True)
    mpi.add_argument("--workers", type=int, default=1)
    mpi.add_argument("--gpus", type=int, default=0)
    mpi.add_argument("--gputopology", type=truth, nargs="?", const=True, default=False)
    mpi.add_argument("--hostNetwork", type=truth, nargs="?", const=True, default=False)
    mpi.add_argument("--cpu")
    mpi.add_argument("--memory")
    mpi.add_argument("--clean-task-policy", choices=["None", "Running", "All"], default="All")
    for name in ("--env", "--data", "--data-dir", "--label", "--annotation", "--selector", "--toleration"):
        mpi.add_argument(name, action="append", default=[])
    mpi.add_argument("command", nargs="+")
    for verb in ("get", "logs", "delete"):
        parser = verbs.add_parser(verb, allow_abbrev=False)
        common(parser)
        parser.add_argument("name")
        parser.add_argument("--type", "-T", choices=["mpijob"], required=True)
        if verb == "get":
            parser.add_argument("--output", "-o", choices=["json", "yaml", "wide"], default="wide")
    return top


def load(name, default):
    path = FOLDER / name
    return json.loads(path.read_text()) if path.exists() else default


def keep(jobs):
    (FOLDER / "jobs.json").write_text(json.dumps(jobs))


def fail(text):
    sys.exit(f'time="2021-03-01T10:00:00Z" level=error msg="{text}"')


def instances(job, status):
    nodes = load("plan.json", {}).get("nodes", {})
    pods = [(f"{job['name']}-worker-{number}", False, job["gpus"]) for number in range(job["workers"])]
    pods.append((f"{job['name']}-launcher-{job['suffix']}", True, 0))
    running = {"PENDING": "Pending", "RUNNING": "Running", "SUCCEEDED": "Succeeded", "FAILED": "Failed"}[status]
    return [
        {
            **{
                "ip": "10.0.0.1",
                "status": running,
                "name": name,
                "age": "2m",
                "nodeIP": "192.168.16.172",
                "chief": chief,
            },
            **{"node": nodes.get(name, f"n{job['gputopology'] + 1}") if running != "Pending" else "N/A"},
            **{"requestGPUs": gpus, "gpuMetrics": None, "creationTimestamp": 1614592800},
        }
        for name, chief, gpus in pods
    ]


def info(job):
    statuses = load("plan.json", {}).get("statuses", ["PENDING", "RUNNING"])
    status = statuses[min(job["gets"], len(statuses) - 1)]
    found = [] if status == "PENDING" and job["gets"] == 0 else instances(job, status)
    return {
        **{"uuid": "5e5c", "name": job["name"], "namespace": job["namespace"], "duration": "2m", "status": status},
        **{"trainer": "mpijob", "tensorboard": "", "chiefName": f"{job['name']}-launcher-{job['suffix']}"},
        **{"instances": found, "priority": "N/A", "requestGPUs": 4, "allocatedGPUs": 4, "modelName": ""},
    }


def main():
    given = parsers().parse_args()
    with open(FOLDER / "calls.jsonl", "a") as stream:
        stream.write(json.dumps(sys.argv[1:]) + "\n")
    jobs = load("jobs.json", {})
    plan = load("plan.json", {})
    if given.verb == "submit":
        if plan.get("submit_fails"):
            fail(plan["submit_fails"])
        if given.name in jobs:
            fail(f"the job {given.name} is already exist, please delete it first.")
        job = {key: getattr(given, key) for key in ("name", "workers", "gpus", "gputopology")}
        place = {"namespace": given.namespace or "default", "command": " ".join(given.command)}
        jobs[given.name] = dict(job, **place, gets=0, suffix=f"x{len((FOLDER / 'calls.jsonl').read_text())}")
        keep(jobs)
        print(f"mpijob.kubeflow.org/{given.name} created")
        return
    if given.name not in jobs:
        fail(
            f"Not found training job {given.name} in namespace {given.namespace or 'default'},please use 'arena submit'"
        )
    if given.verb == "get":
        if given.output != "json":
            fail("only the JSON is read")
        print('time="2021-03-01T10:00:00Z" level=warning msg="a line of the log"', file=sys.stderr)
        print(json.dumps(info(jobs[given.name]), indent=4), end="")
        jobs[given.name]["gets"] += 1
        keep(jobs)
    elif given.verb == "logs":
        if plan.get("logs_fail"):
            fail(plan["logs_fail"])
        print(plan.get("log", "mpirun said this\n"), end="")
    else:
        del jobs[given.name]
        keep(jobs)
        print(f"training job {given.name} has been deleted successfully")


main()

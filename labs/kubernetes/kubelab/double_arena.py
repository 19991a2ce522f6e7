# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A double of Arena 0.15 for the lab: submit mpi, get as JSON, logs, delete and version, for MPIJobs.

It knows the flags that Arena knows for these, refuses the others as it does, and works on the API as the real one with its chart.
"""

import argparse
import json
import sys

from kubelab import arena_job
from kubelab.client import ApiError, Client

JOBS = "/apis/kubeflow.org/v1alpha1/namespaces/{}/mpijobs"
TYPES = ("mpijob", "mpi", "mj")
LABEL = "mpi_job_name={}"
TRUTHS = {"true": True, "false": False, "1": True, "0": False, "t": True, "f": False}


def truth(text):
    if text.lower() not in TRUTHS:
        raise ValueError(text)
    return TRUTHS[text.lower()]


def common(parser):
    parser.add_argument("--namespace", "-n")
    parser.add_argument("--config")
    parser.add_argument("--loglevel", choices=["debug", "info", "warn", "error"], default="info")


def parser_of():
    top = argparse.ArgumentParser(prog="arena", allow_abbrev=False)
    verbs = top.add_subparsers(dest="verb", required=True)
    types = verbs.add_parser("submit", allow_abbrev=False).add_subparsers(dest="type", required=True)
    mpi = types.add_parser("mpijob", aliases=["mpi", "mj"], allow_abbrev=False)
    common(mpi)
    mpi.add_argument("--name", required=True)
    mpi.add_argument("--image", required=True)
    mpi.add_argument("--workers", type=int, default=1)
    mpi.add_argument("--gpus", type=int, default=0)
    for flag in ("--gputopology", "--hostNetwork"):
        mpi.add_argument(flag, type=truth, nargs="?", const=True, default=False)
    mpi.add_argument("--cpu", default="")
    mpi.add_argument("--memory", default="")
    mpi.add_argument("--share-memory", default="2Gi")
    mpi.add_argument("--clean-task-policy", choices=["None", "Running", "All"], default="None")
    for flag in ("--env", "--data-dir", "--label", "--annotation", "--selector"):
        mpi.add_argument(flag, action="append", default=[])
    mpi.add_argument("command", nargs="+")
    for verb in ("get", "logs", "delete"):
        parser = verbs.add_parser(verb, allow_abbrev=False)
        common(parser)
        parser.add_argument("name")
        parser.add_argument("--type", "-T", choices=TYPES, default="mpijob")
        if verb == "get":
            parser.add_argument("--output", "-o", choices=["json"], required=True)
        if verb == "logs":
            parser.add_argument("--tail", type=int)
            parser.add_argument("--instance", "-i")
    verbs.add_parser("version")
    return top


class Absent(ApiError):
    """There is no job of the name."""


def _job(client, name):
    try:
        return client("GET", f"{JOBS.format(client.namespace)}/{name}")
    except ApiError as error:
        if error.code != 404:
            raise
        text = (
            f'Not found training job {name} in namespace {client.namespace},please use \\"arena submit\\" to create it.'
        )
        raise Absent(text) from error


def _pods(client, name):
    found = client("GET", f"/api/v1/namespaces/{client.namespace}/pods", labelSelector=LABEL.format(name))
    return found["items"]


def submit(client, given):
    try:
        thing = arena_job.manifest(given)
    except ValueError as error:
        raise ApiError(str(error)) from error
    try:
        client("POST", JOBS.format(client.namespace), thing)
    except ApiError as error:
        if error.reason == "AlreadyExists":
            raise ApiError(f"the job {given.name} is already exist, please delete it first.") from error
        raise
    print(f"mpijob.kubeflow.org/{given.name} created")
    print(f"INFO[0000] The Job {given.name} has been submitted successfully", file=sys.stderr)


def get(client, given):
    print(json.dumps(arena_job.info(_job(client, given.name), _pods(client, given.name)), indent=4))


def logs(client, given):
    _job(client, given.name)
    chiefs = [pod["metadata"]["name"] for pod in _pods(client, given.name) if arena_job.is_chief(pod)]
    name = given.instance or (sorted(chiefs)[-1] if chiefs else None)
    if not name:
        raise ApiError(f"failed to get the chief pod of the job {given.name}")
    params = {"tailLines": given.tail} if given.tail is not None else {}
    sys.stdout.write(client("GET", f"/api/v1/namespaces/{client.namespace}/pods/{name}/log", **params))


def delete(client, given):
    _job(client, given.name)
    client("DELETE", f"{JOBS.format(client.namespace)}/{given.name}")
    print(f"INFO[0000] The training job {given.name} has been deleted successfully")


VERBS = {"submit": submit, "get": get, "logs": logs, "delete": delete}


def main():
    given = parser_of().parse_args()
    if given.verb == "version":
        print("arena: v0.15.5 (a double of the taco.train lab)")
        return
    try:
        client = Client(given.config, None, given.namespace)
        VERBS[given.verb](client, given)
    except ApiError as error:
        sys.exit(f'time="2026-01-01T00:00:00Z" level=error msg="{error}"')


if __name__ == "__main__":
    main()

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A double of kubectl for the lab: `kubectl exec` as Ansible's connection plugin runs it, and `kubectl get` of an MPIJob and of pods.

It checks its arguments as the real one, asks the API whether the pod is there and may be entered, and becomes the command that
does it, so that input, output and exit status are those of the command in the container.
"""

import json
import os
import sys

from kubelab.client import ApiError, Client

GLOBAL = {"--kubeconfig": "kubeconfig", "--context": "context", "-n": "namespace", "--namespace": "namespace"}
GET = {"-o": "output", "--output": "output", "--selector": "selector", **GLOBAL}
EXEC = {"-c": "container", "--container": "container", **GLOBAL}
FLAGS = {"-i": "stdin", "--stdin": "stdin"}
ONLY = "this kubectl is a double of the taco.train lab: it knows exec, get of an MPIJob and of the names of pods, and nothing else"
MPIJOBS = ("mpijob", "mpijobs", "mpijobs.kubeflow.org")


class UsageError(Exception):
    """Arguments that kubectl refuses, or that the double doesn't know."""


def read(arguments):
    """Return the options and the command of a call."""
    options, words, rest = {}, [], list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return options, words, rest
        name, sign, value = word.partition("=")
        known = {"exec": EXEC, "get": GET}.get(words[0] if words else "", GLOBAL)
        if name in known:
            if not sign and not rest:
                raise UsageError(f"flag needs an argument: {name}")
            options[known[name]] = value if sign else rest.pop(0)
        elif word in FLAGS and "exec" in words:
            options[FLAGS[word]] = True
        elif word.startswith("-"):
            raise UsageError(f"unknown flag: {name}; {ONLY}")
        else:
            words.append(word)
    return options, words, []


def get(words, options):
    """Print an MPIJob in the first version that is served, or the names of pods with a label."""
    if words[1:] == ["pods"] and options.get("output") == "name" and "selector" in options:
        client = Client(options.get("kubeconfig"), options.get("context"), options.get("namespace"))
        found = client("GET", f"/api/v1/namespaces/{client.namespace}/pods", labelSelector=options["selector"])
        print("".join(f"pod/{pod['metadata']['name']}\n" for pod in found["items"]), end="")
        return
    if len(words) != 3 or words[1] not in MPIJOBS or options.get("output") != "json":
        raise UsageError(f"get takes mpijobs.kubeflow.org, a name and --output=json here; {ONLY}")
    client = Client(options.get("kubeconfig"), options.get("context"), options.get("namespace"))
    served = client("GET", "/apis/kubeflow.org")["versions"]
    version = served[0]["version"]
    try:
        found = client("GET", f"/apis/kubeflow.org/{version}/namespaces/{client.namespace}/mpijobs/{words[2]}")
    except ApiError as error:
        if error.code == 404:
            raise ApiError(f'mpijobs.kubeflow.org "{words[2]}" not found', 404, "NotFound") from error
        raise
    print(json.dumps(found, indent=4))


def run(arguments):
    options, words, command = read(arguments)
    if words[:1] == ["get"]:
        get(words, options)
        return
    if words[:1] != ["exec"]:
        raise UsageError(f"unknown command {' '.join(words[:1])!r}; {ONLY}")
    if len(words) != 2 or not command:
        raise UsageError("you must specify one pod and, after --, at least one command for the container")
    client = Client(options.get("kubeconfig"), options.get("context"), options.get("namespace"))
    path = f"/api/v1/namespaces/{client.namespace}/pods/{words[1]}"
    params = {"container": options["container"]} if "container" in options else {}
    found = client("POST", f"{path}/exec", **params)
    if not options.get("stdin"):
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    argv = [*found["argv"], *command]
    os.execvp(argv[0], argv)


def main():
    try:
        run(sys.argv[1:])
    except UsageError as error:
        sys.exit(f"error: {error}")
    except ApiError as error:
        sys.exit(f"Error from server ({error.reason}): {error}" if error.reason else str(error))


if __name__ == "__main__":
    main()

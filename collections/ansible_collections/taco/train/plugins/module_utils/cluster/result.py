# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say what came of an MPIJob, for people and for the tasks to come. Values in, values out."""

import json
from typing import Any, Dict, Mapping, Optional

from ansible_collections.taco.train.plugins.module_utils._process.failure import some
from ansible_collections.taco.train.plugins.module_utils.cluster import inventory
from ansible_collections.taco.train.plugins.module_utils.cluster.inventory import JobPods
from ansible_collections.taco.train.plugins.module_utils.cluster.jobs import JobOptions, Jobs
from ansible_collections.taco.train.plugins.module_utils.cluster.names import worker_hosts
from ansible_collections.taco.train.plugins.module_utils.cluster.owner import LABEL
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import PodConnection
from ansible_collections.taco.train.plugins.module_utils.cluster.present import Outcome

# Of an object in the cluster: what a manifest says.
SHOWN = ("apiVersion", "kind", "metadata", "spec")


def _shown(thing: Optional[Mapping[str, Any]]) -> str:
    """Return an object as lines that can be compared, without what the API server keeps in it."""
    if not thing:
        return ""
    kept: Dict[str, Any] = {name: thing[name] for name in SHOWN if name in thing}
    metadata = kept.get("metadata") or {}
    kept["metadata"] = {name: metadata[name] for name in ("name", "namespace") if metadata.get(name)}
    labels = {name: value for name, value in (metadata.get("labels") or {}).items() if name == LABEL}
    kept["metadata"].update({"labels": labels} if labels else {})
    return json.dumps(kept, indent=2, sort_keys=True) + "\n"


def _message(jobs: Jobs, outcome: Outcome, options: JobOptions) -> str:
    where = f"in the namespace {jobs.namespace}"
    if outcome.made:
        placed = inventory.placement(outcome.pods, outcome.made)
        pods = some(f"{pod} on {node}" for pod, node in placed.items())
        state = f"The MPIJob {jobs.name} ({outcome.version}) runs {where}: {pods}; launcher {outcome.made.launcher}"
    elif outcome.after is None:
        state = f"The MPIJob {jobs.name} is gone from the namespace {jobs.namespace}"
    else:
        state = f"The MPIJob {jobs.name} isn't usable {where} as it is"
    if not outcome.done:
        return f"{state}. Nothing was changed."
    if options.check_mode:
        return f"Check mode, nothing was changed {where}: would have {', and '.join(outcome.done)}."
    return f"{state}. This run has {', and '.join(outcome.done)}."


def result_of(
    jobs: Jobs,
    outcome: Outcome,
    options: JobOptions,
    reached: PodConnection,
    nodes: Mapping[str, str],
    shared: Mapping[str, Any],
) -> Dict[str, Any]:
    """Return the result of the action; without a job that can be used it has no pods."""
    made: Optional[JobPods] = outcome.made
    return {
        "changed": bool(outcome.done),
        "msg": _message(jobs, outcome, options),
        "diff": {"before": _shown(outcome.before), "after": _shown(outcome.after)} if outcome.done else {},
        "api_version": outcome.version,
        "namespace": jobs.namespace,
        "manifest": outcome.after or {},
        "logs": outcome.logs,
        "launcher": {"pod": made.launcher} if made else {},
        "workers": inventory.workers(outcome.pods, made) if made else [],
        "hosts": worker_hosts(made.version, made.name, made.workers, made.slots, made.namespace) if made else [],
        "placement": inventory.placement(outcome.pods, made) if made else {},
        "pods": inventory.hosts(outcome.pods, made, reached, nodes, shared, jobs.node_labels()) if made else [],
    }

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of the cluster whose nodes the hosts are: can it be reached, does it know MPIJobs and run them, and may we do what we will."""

from typing import Any, List, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils.cluster.drain import is_cordoned, is_ours, no_such_node
from ansible_collections.taco.train.plugins.module_utils.cluster.names import (
    ARENA_VERSION,
    CRD,
    choose_version,
    served_versions,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.permissions import LABELS, PERMISSIONS
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError
from ansible_collections.taco.train.plugins.plugin_utils.check import Check, is_set, skipped
from ansible_collections.taco.train.plugins.plugin_utils.preflight import ack
from ansible_collections.taco.train.plugins.plugin_utils.text import some

IDENTITY = "kubernetes.operator"
EXPECTED = "a pod of the MPI Operator that is Ready"


def operator_check(pods: Optional[List[Mapping[str, Any]]]) -> Check:
    """Check that something runs MPIJobs. pods are outlines of the controllers' pods, None when pods may not be listed."""
    if pods is None:
        return skipped(IDENTITY, "the pods of the cluster may not be listed")
    ready = [pod["name"] for pod in pods if pod["ready"]]
    if ready:
        return Check(IDENTITY, "pass", found=", ".join(ready))
    if pods:
        found = some((f"{pod['name']} is not Ready ({pod['why']})" for pod in pods), separator="; ")
        return Check(IDENTITY, "fail", EXPECTED, found, "repair the MPI Operator: without it an MPIJob gets no pods")
    fix = "install the MPI Operator, or skip this check where another controller runs MPIJobs"
    return Check(IDENTITY, "warn", EXPECTED, f"no pod with the label {' or '.join(LABELS)}", fix)


HOST_CHECKS = ("kubernetes.node", ack.IDENTITY)
API = "kubernetes.api"
CLUSTER_CHECKS = (API, "kubernetes.mpijob", IDENTITY, "kubernetes.permissions")
Facts = Mapping[str, Any]


def host_checks(variables: Mapping[str, Any], facts: Optional[Facts]) -> List[Check]:
    """Return the checks of a host that is a node of the cluster."""
    nodes = (facts or {}).get("nodes")
    name = str(variables.get("taco_node_name") or "")
    found = next((node for node in nodes or [] if node["metadata"].get("name") == name), None)
    checks = [_node(name, found, nodes)]
    return [*checks, ack.node_check(found)] if variables.get("taco_platform") == "ack" else checks


def _node(name: str, found: Optional[Facts], nodes: Optional[Sequence[Facts]]) -> Check:
    """Check that the host is a node of the cluster, and one that pods can come to."""
    if nodes is None:
        return skipped("kubernetes.node", "the nodes of the cluster are not known", API)
    if found is None:
        names = [node["metadata"].get("name", "") for node in nodes]
        problem, _colon, fix = no_such_node(name, names).partition(": ")
        return Check("kubernetes.node", "fail", f"a node {name}", problem, fix)
    for condition in (found.get("status") or {}).get("conditions") or []:
        if condition.get("type") == "Ready" and condition.get("status") != "True":
            why = condition.get("message") or condition.get("reason") or "no reason given"
            fix = "see the kubelet's log on the host: journalctl -u kubelet"
            return Check("kubernetes.node", "fail", "a node that is Ready", f"{name} is not Ready: {why}", fix)
    if is_ours(found):
        fix = "none needed when its reboot is done: role kubernetes_node uncordons it then"
        return Check("kubernetes.node", "warn", "a node open to pods", f"{name} is cordoned by an earlier run", fix)
    if is_cordoned(found):
        fix = f"`kubectl uncordon {name}`, or exclude the host; this collection uncordons only nodes that it cordoned"
        return Check("kubernetes.node", "warn", "a node open to pods", f"{name} is cordoned", fix)
    return Check("kubernetes.node", "pass", found=name)


def _mpijob(facts: Facts, variables: Mapping[str, Any]) -> Check:
    identity = "kubernetes.mpijob"
    if facts.get("crd_forbidden"):
        return skipped(identity, "the CRD may not be read")
    crd = facts.get("crd")
    wanted = variables.get("mpijob_api_version")
    try:
        version = choose_version(crd, str(wanted) if is_set(wanted) else None)
    except MpijobError as error:
        found = ", ".join(served_versions(crd)) if crd else f"no CRD {CRD}"
        if variables.get("taco_platform") == "ack" and ARENA_VERSION in found:
            fix = "none needed where Arena submits the job"
            return Check(identity, "warn", "MPIJob in v1 or v2beta1", f"{ARENA_VERSION}, which is Arena's", fix)
        return Check(identity, "fail", "a cluster that serves MPIJob", found or "no version", str(error))
    return Check(identity, "pass", found=version)


def _permissions(facts: Facts, variables: Mapping[str, Any]) -> Check:
    lacking = facts.get("missing")
    if lacking is None:
        return skipped("kubernetes.permissions", "the API server does not report the permissions of the account")
    if not lacking:
        return Check("kubernetes.permissions", "pass", found=f"{len(PERMISSIONS)} permissions")
    namespace = variables.get("taco_kube_namespace") or "default"
    fix = (
        "ask an administrator to apply docs/kubernetes/permissions.yml of the collection with this account and the namespace "
        f"{namespace}"
    )
    return Check("kubernetes.permissions", "fail", "all permissions", f"missing: {', '.join(lacking)}", fix)


def cluster_checks(variables: Mapping[str, Any], facts: Optional[Facts]) -> List[Check]:
    """Return the checks of the cluster, as any of its hosts has it in its variables."""
    error = facts.get("error") if facts else "the cluster was not observed"
    if facts is None or error:
        fix = "test the connection with `kubectl get nodes` on taco_kube_host"
        api = Check("kubernetes.api", "fail", "a cluster whose API server answers", str(error), fix)
        return [api, *(skipped(identity, "the cluster can't be asked", API) for identity in CLUSTER_CHECKS[1:])]
    api = Check("kubernetes.api", "pass", found=f"{len(facts.get('nodes') or [])} nodes")
    return [
        api,
        _mpijob(facts, variables),
        operator_check(facts.get("operators")),
        _permissions(facts, variables),
    ]

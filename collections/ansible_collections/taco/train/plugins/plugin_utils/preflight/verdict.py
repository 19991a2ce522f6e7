# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judge hosts, alone and together, by what was observed of them and by their variables. Values in, values out."""

import difflib
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.check import (
    STATUSES,
    Check,
    NotComputedError,
    Variables,
    skipped,
)
from ansible_collections.taco.train.plugins.plugin_utils.preflight import controller as checks_controller
from ansible_collections.taco.train.plugins.plugin_utils.preflight import gpus, memory, same_on_all_hosts, versions
from ansible_collections.taco.train.plugins.plugin_utils.preflight import host as checks_host
from ansible_collections.taco.train.plugins.plugin_utils.preflight import kubernetes as checks_kubernetes
from ansible_collections.taco.train.plugins.plugin_utils.variables import checks as checks_variables
from ansible_collections.taco.train.plugins.plugin_utils.variables import validation
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import on_cluster


class QueryError(Exception):
    """A query of a user's check can't be computed: what was expected, what was found, and the fix."""


# Returns what a JMESPath expression finds in a value.
Search = Callable[[str, Any], Any]


def extra_check(spec: Mapping[str, Any], node: Mapping[str, Any], search: Search) -> Check:
    """Return the outcome of a check that a user wrote as a JMESPath expression over the facts of a host.

    Without an expected value what is found must be something: not null, false, empty or zero.
    """
    try:
        found = search(spec["query"], node)
    except QueryError as error:
        return Check(spec["id"], "fail", *error.args)
    wanted = spec.get("expected")
    if found == wanted if wanted is not None else bool(found):
        return Check(spec["id"], "pass", found=str(found))
    expected = spec.get("message") or (f"{spec['query']} is {wanted}" if wanted is not None else spec["query"])
    return Check(spec["id"], "fail", expected, str(found), spec.get("fix") or "")


SCHEMA = 1

# In the order in which they are shown. These look at what was observed ...
NODE_CHECKS = {
    "os.supported": checks_host.os_supported,
    "boot.layout": checks_host.boot_layout,
    "cpu.page_size": memory.page_size,
    "memory.hugepages": memory.hugepages_fit,
    "hugepages.sysctl": memory.hugepages_sysctl,
    "hugepages.running": memory.hugepages_running,
    "gpu.count": gpus.gpu_count,
    "gpu.model": gpus.gpu_model,
    "gpu.driver": versions.driver,
    "eni.count": gpus.eni_count,
    "interface.present": checks_host.interface_present,
    "disk.free": checks_host.disk_free,
    "engine.present": checks_host.engine_present,
    "engine.version": versions.docker,
    "engine.toolkit": versions.toolkit,
    "harp.plugin": checks_host.harp_plugin,
}
# ... and these at variables alone, so that they also say something about a host that didn't answer.
VARIABLE_CHECKS = {
    "gpu.declared": checks_variables.declared,
    "harp.checksum": checks_variables.harp_checksum,
    "image.set": checks_variables.image_set,
}
OTHER_CHECKS = (
    "host.observed",
    "instance.type",
    "variables.known",
    validation.VALID,
    "cluster.same_gpus",
    "cluster.same_image",
)
# These are made of the controller, where that was looked at.
CONTROLLER_CHECKS = ("controller.collections", "controller.packages")
# These are made only of hosts that are nodes of a cluster.
KUBERNETES_CHECKS = checks_kubernetes.HOST_CHECKS + checks_kubernetes.CLUSTER_CHECKS
CHECKS = tuple(NODE_CHECKS) + tuple(VARIABLE_CHECKS) + OTHER_CHECKS + CONTROLLER_CHECKS + KUBERNETES_CHECKS


class VerdictError(Exception):
    """What to skip or to add can't be understood."""


class Host(NamedTuple):
    """All that is known about a host. An error says why there is no node."""

    node: Optional[Dict[str, Any]]
    variables: Dict[str, Any]
    error: Optional[str] = None
    unknown: Sequence[checks_variables.Unknown] = ()
    undefined: Mapping[str, str] = {}
    wrong: Sequence[validation.InvalidValue] = ()


def _known_ids(skip: Sequence[str], extra: Sequence[Mapping[str, Any]]) -> None:
    for spec in extra:
        if spec["id"] in CHECKS:
            raise VerdictError(
                f"an added check has the id {spec['id']} of a check of the collection; choose another id"
            )
    ids = list(CHECKS) + [spec["id"] for spec in extra]
    for identity in skip:
        if identity not in ids:
            near = difflib.get_close_matches(identity, ids, n=1, cutoff=0)
            raise VerdictError(f"no check has the id {identity}, which is to be skipped; the closest is {near[0]}")


def _computed(identity: str, check: Callable[..., Check], *arguments: Any) -> Check:
    """The outcome of a check. A variable that is wrong or can't be computed is a finding of another check."""
    try:
        return check(*arguments)
    except NotComputedError as error:
        uncomputed = arguments[-1].undefined[str(error)]
        waits_for = checks_variables.KNOWN if uncomputed else validation.VALID
        return skipped(identity, f"{error} is wrong or can't be computed", waits_for)


def judge_host(
    host: Host,
    skip: Sequence[str],
    extra: Sequence[Mapping[str, Any]],
    search: Search,
    kubernetes: Optional[Mapping[str, Any]] = None,
) -> List[Check]:
    """Return the outcome of every check of one host."""
    # Each wrong value is one finding, and no check that would read it adds another.
    wrong = [one.variable for one in host.wrong if one.variable]
    variables = Variables(host.variables, dict(host.undefined, **dict.fromkeys(wrong, "")))
    checks = [checks_host.observed(host.node, host.error)]
    for identity, check in NODE_CHECKS.items():
        unseen = skipped(identity, "the host was not observed", checks_host.OBSERVED)
        checks.append(_computed(identity, check, host.node, variables) if host.node else unseen)
    checks += [_computed(identity, check, variables) for identity, check in VARIABLE_CHECKS.items()]
    checks.append(_computed("instance.type", gpus.instance_type, host.node, variables))
    checks.append(checks_variables.known(list(host.unknown), host.undefined))
    checks += validation.checks_of(host.wrong)
    if on_cluster(host.variables):
        checks += checks_kubernetes.host_checks(host.variables, kubernetes)
    for spec in extra:
        unseen = skipped(spec["id"], "the host was not observed", checks_host.OBSERVED)
        checks.append(extra_check(spec, host.node, search) if host.node else unseen)
    return _without(checks, skip)


def _without(checks: Sequence[Check], skip: Sequence[str]) -> List[Check]:
    return [skipped(check.id, "skipped on request") if check.id in skip else check for check in checks]


def _worst(checks: Sequence[Check]) -> str:
    return next((status for status in STATUSES if any(check.status == status for check in checks)), "pass")


def judge(
    hosts: Mapping[str, Host],
    search: Search,
    skip: Sequence[str] = (),
    extra: Sequence[Mapping[str, Any]] = (),
    kubernetes: Optional[Mapping[str, Any]] = None,
    controller: Optional[checks_controller.Controller] = None,
) -> Dict[str, Any]:
    """Return the verdict on all hosts as a value that can be written as JSON.

    kubernetes is what M(taco.train.kubernetes_info) found, where hosts are nodes of a cluster.
    """
    _known_ids(skip, extra)
    judged = {name: judge_host(host, skip, extra, search, kubernetes) for name, host in hosts.items()}
    every = [host.variables for host in hosts.values()]
    together = checks_controller.controller_checks(every, controller) if controller else []
    together += same_on_all_hosts.checks(
        {name: Variables(host.variables, host.undefined) for name, host in hosts.items()}
    )
    nodes = [host.variables for host in hosts.values() if on_cluster(host.variables)]
    together += checks_kubernetes.cluster_checks(nodes[0], kubernetes) if nodes else []
    cluster = _without(together, skip)
    everything = [check for checks in judged.values() for check in checks] + cluster
    summary = {status: sum(check.status == status for check in everything) for status in STATUSES}
    return {
        "schema": SCHEMA,
        "status": _worst(everything) if summary["fail"] or summary["warn"] else "pass",
        "summary": dict(summary, hosts=len(hosts)),
        "hosts": {
            name: {"status": _worst(checks), "checks": [dict(check._asdict()) for check in checks]}
            for name, checks in judged.items()
        },
        "fleet": [dict(check._asdict()) for check in cluster],
    }


def failed_hosts(verdict: Mapping[str, Any]) -> List[str]:
    """Return the hosts on which a check failed; all of them when one failed that concerns them together."""
    if any(check["status"] == "fail" for check in verdict["fleet"]):
        return list(verdict["hosts"])
    return [name for name, host in verdict["hosts"].items() if host["status"] == "fail"]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Translate the manifest of a job into arguments of Arena. Values in, values out.

Arena renders a chart of its own (https://github.com/kubeflow/arena, commit e30882c1, charts/mpijob). A manifest with a part that this
chart can't set is refused, and so is a text that the chart would change.
"""

import re
import shlex
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ansible_collections.taco.train.plugins.module_utils.cluster.definition import Definition
from ansible_collections.taco.train.plugins.module_utils.cluster.names import require_names
from ansible_collections.taco.train.plugins.module_utils.cluster.owner import LABELS
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import (
    GPU,
    HUGEPAGES,
    TOPOLOGY_GPU,
    MpijobError,
)

JOB_TYPE = "mpijob"
CONTAINER = "mpi"
# The chart sets texts in double quotes without escaping what is in them.
_UNSAFE = re.compile(r'["\\\n\r\t]|[^\x20-\x7e\xa0-\U0010ffff]')
NATIVELY = "or submit the job natively (ack_submit: native)"
# What the filter mpijob_manifest gives a launcher unless it is told otherwise, and the chart always.
LAUNCHER = {"cpu": "1", "memory": "2Gi"}
# The parts of a manifest that become arguments or have a refusal of their own.
POD_PARTS = ("containers", "volumes", "hostNetwork", "dnsPolicy")
CONTAINER_PARTS = ("name", "image", "command", "env", "resources", "securityContext", "volumeMounts")
RESOURCES = (HUGEPAGES, "memory", GPU, TOPOLOGY_GPU)


def _safe(name: str, value: str, what: str) -> str:
    if _UNSAFE.search(value):
        raise MpijobError(
            f"{what} {name} is {value!r}: Arena's chart can't set a text with a double quote, a backslash or the end of a line. Set one "
            f"without them, {NATIVELY}"
        )
    return value


def _sources(job: Definition) -> Dict[str, Optional[str]]:
    """Return the path on the node of each volume, by its name; None for a volume that is no path."""
    volumes = job.worker.get("volumes") or []
    return {volume["name"]: (volume.get("hostPath") or {}).get("path") for volume in volumes}


def _other_parts(job: Definition) -> List[str]:
    """Return the parts of a manifest that nothing here reads."""
    found = set(job.limits) - set(RESOURCES)
    for pod in (job.launcher, job.worker):
        found.update(set(pod) - set(POD_PARTS))
        for container in pod["containers"]:
            found.update(set(container) - set(CONTAINER_PARTS))
            found.update(set(container.get("securityContext") or {}) - {"privileged"})
    return sorted(found)


def refusals(job: Definition) -> List[str]:
    """Return what of a job Arena can't set, each with the variable that leaves it out."""
    worker, launcher = job.worker["containers"][0], job.launcher["containers"][0]
    found = []
    if HUGEPAGES in job.limits:
        found.append(f"hugepages ({job.limits[HUGEPAGES]} for each worker; set mpijob_hugepages: 0)")
    for volume in job.worker.get("volumes") or []:
        if "emptyDir" in volume:
            found.append(f"the size of /dev/shm ({volume['emptyDir'].get('sizeLimit')}; set mpijob_shm_size: 0)")
    if (worker.get("securityContext") or {}).get("privileged"):
        found.append("privileged (set mpijob_privileged: false)")
    limits = launcher.get("resources", {}).get("limits", {})
    if {name: str(value) for name, value in limits.items()} != LAUNCHER:
        found.append("the resources of the launcher (leave out mpijob_launcher_cpu and mpijob_launcher_memory)")
    sources = _sources(job)
    for mount in worker.get("volumeMounts") or []:
        source = sources.get(mount["name"]) or ""
        if mount.get("readOnly"):
            found.append(f"a read-only mount ({source}; leave out :ro)")
        if ":" in source or ":" in mount["mountPath"]:
            found.append(f"a mount with a colon in its path ({source})")
    return found + [f"{part} of the definition" for part in _other_parts(job)]


def _place(namespace: Optional[str], config: Optional[str]) -> List[str]:
    return ([f"--namespace={namespace}"] if namespace else []) + ([f"--config={config}"] if config else [])


def submit_argv(
    job: Definition, name: str, namespace: Optional[str], config: Optional[str] = None, arena: str = "arena"
) -> List[str]:
    """Return the arguments that submit a job, or raise what of it Arena can't set.

    Kubernetes expands $(NAME) in commands and environments. The manifest has them escaped already, so they stay as they are.
    """
    require_names(name, job.workers, namespace)
    missing = refusals(job)
    if missing:
        raise MpijobError(f"Arena can't set {'; '.join(missing)}; {NATIVELY}")
    worker = job.worker["containers"][0]
    command: Sequence[str] = job.launcher["containers"][0].get("command") or ()
    if not command:
        raise MpijobError("Arena needs a command for the launcher: set mpijob_command, such as [sleep, infinity]")
    topology = TOPOLOGY_GPU in job.limits
    gpus = job.limits.get(TOPOLOGY_GPU if topology else GPU, 0)
    argv = [arena, "submit", "mpi", f"--name={name}", *_place(namespace, config)]
    argv += [f"--label={label}={value}" for label, value in LABELS.items()]
    argv += [f"--workers={job.workers}", f"--gpus={gpus}", f"--gputopology={str(topology).lower()}"]
    argv += [f"--image={_safe('image', worker['image'], 'the')}"]
    argv += [f"--memory={job.limits['memory']}", f"--clean-task-policy={job.policy}"]
    if job.worker.get("hostNetwork") and not topology:
        # With --gputopology the chart has the host's network by itself.
        argv.append("--hostNetwork=true")
    for variable in worker.get("env") or []:
        argv.append(
            f"--env={variable['name']}={_safe(variable['name'], variable['value'], 'the environment variable')}"
        )
    sources = _sources(job)
    for mount in worker.get("volumeMounts") or []:
        source = str(sources[mount["name"]])
        argv.append(f"--data-dir={_safe(source, source, 'the mount')}:{mount['mountPath']}")
    return [*argv, _safe("command", " ".join(map(shlex.quote, command)), "the")]


def verb_argv(
    verb: str, name: str, namespace: Optional[str], config: Optional[str] = None, arena: str = "arena"
) -> List[str]:
    """Return the arguments that get, log or delete a job."""
    output = ["--output=json"] if verb == "get" else []
    return [arena, verb, name, f"--type={JOB_TYPE}", *_place(namespace, config), *output]


def kubectl(options: Mapping[str, Any], *arguments: str) -> List[str]:
    """Return a command for which Arena has no verb."""
    place = [f"--{name}={options[name]}" for name in ("kubeconfig", "context", "namespace") if options.get(name)]
    return ["kubectl", *place, *arguments]


def context_refusal(options: Mapping[str, Any], found: str) -> str:
    """Return the message that refuses a context that Arena would not take. found is the current one, or why it isn't known."""
    context, config = options["context"], options["kubeconfig"]
    here = f"--kubeconfig={config} " if config else ""
    return (
        f"Arena would not use taco_kube_context {context}. It has no option for a context and takes the current context of the "
        f"kubeconfig{' ' + config if config else ''}: expected {context}, found {found}. Nothing was submitted or removed. Set "
        f"taco_kubeconfig to a kubeconfig of its own and run `kubectl {here}config use-context {context}`, or leave out taco_kube_context "
        "where the current context is the right one"
    )

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say a job as arguments of Arena. Values in, values out.

Arena renders a chart of its own (https://github.com/kubeflow/arena, commit e30882c1, charts/mpijob). What that chart has no
place for is refused, and so are texts that would come out of it as others than went in.
"""

import re
import shlex
from typing import Sequence

from ansible_collections.taco.train.plugins.module_utils.cluster.names import GROUP
from ansible_collections.taco.train.plugins.module_utils.cluster.owner import LABELS
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import split_mount
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import Job, check_job
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import as_it_is

JOB_TYPE = "mpijob"
CONTAINER = "mpi"
# The chart sets texts in double quotes without escaping what is in them.
_UNSAFE = re.compile(r'["\\\n\r\t]|[^\x20-\x7e\xa0-\U0010ffff]')
NATIVELY = "or submit the job natively (ack_submit: native)"


def _fixed(name: str, value: str, what: str) -> str:
    if _UNSAFE.search(value):
        raise MpijobError(
            f"{what} {name} is {value!r}: Arena's chart can't say a double quote, a backslash or a line's end; say it without, "
            f"{NATIVELY}"
        )
    return value


def refusals(job: Job) -> list[str]:
    """Return what of a job Arena has no way to say, each with the variable that leaves it out."""
    found = []
    if job.pages:
        found.append(f"hugepages ({job.pages} of 1 GiB for each worker; set mpijob_hugepages: 0)")
    if job.shm_bytes:
        found.append(f"the size of /dev/shm ({job.spec.shm_size}; set mpijob_shm_size: 0)")
    if job.spec.privileged:
        found.append("privileged (set mpijob_privileged: false)")
    if (job.launcher_cpu, job.launcher_memory) != (Job.launcher_cpu, Job.launcher_memory):
        found.append("what the launcher alone may take (leave out mpijob_launcher_cpu and mpijob_launcher_memory)")
    for mount in map(split_mount, job.spec.mounts):
        if "ro" in mount.options:
            found.append(f"a mount that can't be written to ({mount.source}; leave out :ro)")
        if ":" in mount.source or ":" in mount.target:
            found.append(f"a mount with a colon in its path ({mount.source})")
    return found


def words_of(command: Sequence[str]) -> str:
    """Return a command as the one text that Arena hands to sh -c."""
    return shlex.join(str(word) for word in command)


def _place(namespace: str | None, config: str | None) -> list[str]:
    return ([f"--namespace={namespace}"] if namespace else []) + ([f"--config={config}"] if config else [])


def submit_argv(job: Job, config: str | None = None, arena: str = "arena") -> list[str]:
    """Return the arguments that submit a job, or raise what of it Arena can't say."""
    check_job(job)
    missing = refusals(job)
    if missing:
        raise MpijobError(f"Arena can't say {'; '.join(missing)}; {NATIVELY}")
    if not job.spec.command:
        raise MpijobError("Arena needs a command for the launcher: set mpijob_command, such as [sleep, infinity]")
    spec = job.spec
    argv = [arena, "submit", "mpi", f"--name={spec.name}", *_place(job.namespace, config)]
    argv += [f"--label={name}={value}" for name, value in LABELS.items()]
    argv += [f"--workers={job.workers}", f"--gpus={job.gpus_per_worker if spec.gpus == 'all' else 0}"]
    argv += [f"--gputopology={str(job.gpu_topology).lower()}", f"--image={_fixed('image', spec.image, 'the')}"]
    argv += [f"--memory={job.memory}", f"--clean-task-policy={job.clean_pod_policy}"]
    if spec.network_mode == "host" and not job.gpu_topology:
        # With --gputopology the chart has the host's network by itself.
        argv.append("--hostNetwork=true")
    argv += [
        f"--env={name}={as_it_is(_fixed(name, value, 'the environment variable'))}" for name, value in spec.environment
    ]
    for mount in map(split_mount, spec.mounts):
        argv.append(f"--data-dir={_fixed(mount.source, mount.source, 'the mount')}:{mount.target}")
    return [*argv, as_it_is(_fixed("command", words_of(spec.command), "the"))]


def verb_argv(
    verb: str, name: str, namespace: str | None, config: str | None = None, arena: str = "arena"
) -> list[str]:
    """Return the arguments that get, log or delete a job."""
    output = ["--output=json"] if verb == "get" else []
    return [arena, verb, name, f"--type={JOB_TYPE}", *_place(namespace, config), *output]


def context_argv(config: str | None = None) -> list[str]:
    """The command that prints the current context of a kubeconfig, the one that Arena takes."""
    return ["kubectl", *([f"--kubeconfig={config}"] if config else []), "config", "current-context"]


def context_refusal(host: str, context: str, found: str, config: str | None = None) -> str:
    """The message that refuses a context that Arena would not take. found says what the current one is, or why it isn't known."""
    here = f"--kubeconfig={config} " if config else ""
    return (
        f"{host}: Arena would not use taco_kube_context {context}. It has no option for a context and takes the current context of the "
        f"kubeconfig{' ' + config if config else ''}: expected {context}, found {found}. Nothing was submitted or removed. Set "
        f"taco_kubeconfig to a kubeconfig of its own and run `kubectl {here}config use-context {context}`, or leave out taco_kube_context "
        "where the current context is the right one"
    )


def _kubectl(namespace: str | None, config: str | None, context: str | None) -> list[str]:
    place = [f"--kubeconfig={config}"] if config else []
    place += [f"--context={context}"] if context else []
    place += [f"--namespace={namespace}"] if namespace else []
    return ["kubectl", *place]


def exec_argv(pod: str, namespace: str | None, config: str | None = None, context: str | None = None) -> list[str]:
    """The arguments of kubectl before a command that runs in the launcher: Arena itself has no verb for it."""
    return [*_kubectl(namespace, config, context), "exec", pod, f"--container={CONTAINER}", "--"]


def object_argv(job: str, namespace: str | None, config: str | None = None, context: str | None = None) -> list[str]:
    """The arguments of kubectl that print the object of a job: arena get doesn't print its labels."""
    return [*_kubectl(namespace, config, context), "get", f"{JOB_TYPE}s.{GROUP}", job, "--output=json"]

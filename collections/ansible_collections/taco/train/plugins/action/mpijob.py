# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bring an MPIJob to its state by modules of kubernetes.core, and return its pods as hosts."""

import shutil
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.check import is_set
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import PROFILES
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.action import (
    ACCESS,
    cluster_of,
    host_of,
    pods_reached,
)
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.client import KubernetesError
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.client import JobError, Jobs, Wish
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import KEYS, PROFILE, job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.present import absent, present
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.result import result_of
from ansible_collections.taco.train.plugins.plugin_utils.run.store import RecordError
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_values import require_role_values

TEXT, NUMBER, TRUTH = {"type": "str"}, {"type": "int"}, {"type": "bool"}
TEXTS = {"type": "list", "elements": "str"}
ARGUMENT_SPEC: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "default": PROFILES[PROFILE]["name"]},
    "namespace": {"type": "str", "default": "default"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "api_version": {"type": "str", "choices": ["v1", "v2beta1"]},
    "workers": NUMBER,
    "gpus_per_worker": NUMBER,
    "image": TEXT,
    "command": TEXTS,
    "gpus": {"type": "str", "choices": ["all", "none"], "default": "all"},
    "memory": TEXT,
    "shm_size": TEXT,
    "hugepages": NUMBER,
    "mounts": TEXTS,
    "mounts_extra": dict(TEXTS, default=[]),
    "privileged": TRUTH,
    "network_mode": TEXT,
    "environment": {"type": "dict", "default": {}},
    "gpu_topology": {"type": "bool", "default": False},
    "clean_pod_policy": {"type": "str", "choices": ["Running", "All", "None"], "default": "Running"},
    "launcher_cpu": TEXT,
    "launcher_memory": TEXT,
    "replace": {"type": "bool", "default": False},
    "any_manager": {"type": "bool", "default": False},
    "interrupt_running_work": {"type": "bool", "default": False},
    "allow_lost_logs": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 600},
    "poll": {"type": "float", "default": 2.0},
    "logs_dir": TEXT,
    **ACCESS,
    "python": {"type": "str", "default": "/usr/bin/python3"},
    "nodes": {"type": "dict", "default": {}},
    "pod_variables": {"type": "dict", "default": {}},
}
# What a job is made of, for a job that there is to be.
REQUIRED_IF = [("state", "present", ["workers", "gpus_per_worker"])]


class ActionModule(ActionBase):
    """Read the options, act, say what was done."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        require_role_values(self, task_vars)
        # A templated null may be an empty text, which no type but text's takes.
        self._task.args = {name: value for name, value in self._task.args.items() if is_set(value)}
        _ignored, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC, required_if=REQUIRED_IF)
        host = host_of(self, task_vars)
        reached = pods_reached(self, options, host)
        jobs = Jobs(cluster_of(self, options, task_vars), options["name"], options["namespace"])
        wish = Wish(
            options["api_version"],
            options["replace"],
            options["any_manager"],
            options["wait_timeout"],
            options["poll"],
            options["logs_dir"],
            self._task.check_mode,
            options["interrupt_running_work"],
            options["allow_lost_logs"],
        )
        try:
            if options["state"] == "absent":
                outcome = absent(jobs, wish)
            else:
                outcome = present(jobs, job_of({name: options[name] for name in KEYS}), wish)
        # Ansible would add the words of every cause, and they say them all themselves.
        except InvalidValueError as error:
            raise AnsibleActionFail(f"{host}: {error}") from None
        except (JobError, KubernetesError, RecordError) as error:
            raise AnsibleActionFail(str(error)) from None
        result.update(result_of(jobs, outcome, wish, reached, options["nodes"], options["pod_variables"]))
        if result["pods"] and not shutil.which("kubectl"):
            jobs.warn("kubectl is missing on the controller's PATH; it is needed to connect to the pods: install it.")
        if jobs.warnings:
            result["warnings"] = [*result.get("warnings", []), *jobs.warnings]
        return result

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a training container as a profile says, by one call of community.docker.docker_container."""

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.container_errors import explain
from ansible_collections.taco.train.plugins.plugin_utils.training_spec import (
    DOCKER_PROFILES,
    SpecError,
    TrainingSpec,
    docker_container_options,
    docker_run_argv,
    spec_for,
)

MODULE = "community.docker.docker_container"
ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    "image": {"type": "str"},
    "profile": {"type": "str", "choices": list(DOCKER_PROFILES), "default": "harp"},
    "state": {"type": "str", "choices": ["started", "absent"], "default": "started"},
    "command": {"type": "list", "elements": "str"},
    "gpus": {"type": "raw"},
    "shm_size": {"type": "str"},
    "ulimits": {"type": "list", "elements": "str"},
    "mounts": {"type": "list", "elements": "str"},
    "mounts_extra": {"type": "list", "elements": "str", "default": []},
    "privileged": {"type": "bool"},
    "network_mode": {"type": "str"},
    "environment": {"type": "dict", "default": {}},
    "restart_policy": {"type": "str", "choices": ["no", "on-failure", "always", "unless-stopped"]},
    "pull": {"type": "str", "choices": ["missing", "always", "never"], "default": "missing"},
    "harp_config_dir": {"type": "str", "default": "/usr/local/tfabric/tools/config"},
    "harp_config_files": {"type": "list", "elements": "raw", "default": []},
    "require_harp": {"type": "bool"},
}
OVERRIDES = (
    "image",
    "name",
    "command",
    "gpus",
    "shm_size",
    "ulimits",
    "mounts",
    "privileged",
    "network_mode",
    "environment",
    "restart_policy",
)
# Without these a mount, variable or limit that was taken out of the inventory would stay in the container.
STRICT = {"volumes": "strict", "env": "strict", "ulimits": "strict", "device_requests": "strict"}


def spec_of(options: dict[str, Any]) -> TrainingSpec:
    """Return the spec that the task's options describe. A templated null can arrive as an empty string."""
    overrides = {name: None if options[name] == "" else options[name] for name in OVERRIDES}
    if isinstance(overrides["gpus"], int):
        raise SpecError(f"gpus is {overrides['gpus']}: expected all, none, or a list of indexes or UUIDs")
    if isinstance(overrides["gpus"], str) and overrides["gpus"] not in ("all", "none"):
        overrides["gpus"] = [item.strip() for item in overrides["gpus"].split(",")]
    return spec_for(options["profile"], overrides, options["mounts_extra"])


def module_options(spec: TrainingSpec, pull: str) -> dict[str, Any]:
    """Return all options of community.docker.docker_container for a container that runs."""
    options = docker_container_options(spec)
    options.update(state="started", detach=True, pull=pull, comparisons=STRICT, command_handling="correct")
    return options


def harp_refusal(options: dict[str, Any], host: str) -> str | None:
    """Return why HARP could not start in the container, or None."""
    required = options["require_harp"]
    if required is None:
        required = options["profile"] == "harp"
    # HARP would not start with an empty one either.
    files = [one for one in options["harp_config_files"] if not isinstance(one, dict) or one.get("size", 1)]
    if not required or files:
        return None
    return (
        f"{host}: the container {options['name']} is not started: HARP would abort when it initialises, since there is no "
        f"ztcp*.conf in {options['harp_config_dir']} that isn't empty. Run the role taco.train.harp first; without HARP set "
        "training_container_profile: lightcc"
    )


def trouble_after_start(result: dict[str, Any]) -> str | None:
    """Return what the started container died of, or None when it runs."""
    state = (result.get("container") or {}).get("State") or {}
    if state.get("Status") in (None, "running"):
        return None
    return f"it is {state['Status']} instead of running, exit status {state.get('ExitCode')}: {state.get('Error') or 'see docker logs'}"


class ActionModule(ActionBase):
    """Turn the options into a spec, the spec into the options of docker_container, and its errors into advice."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        task_vars = task_vars or {}
        host = task_vars.get("inventory_hostname", "this host")
        _ignored, options = self.validate_argument_spec(argument_spec=ARGUMENT_SPEC)

        if options["state"] == "absent":
            wanted = {"name": options["name"], "state": "absent"}
        else:
            try:
                spec = spec_of(options)
            except SpecError as error:
                raise AnsibleActionFail(f"{host}: {error}") from error
            refusal = harp_refusal(options, host)
            # Under check mode the role harp has not really run, so a missing configuration proves nothing.
            if refusal and not self._task.check_mode:
                raise AnsibleActionFail(refusal)
            if refusal:
                result.setdefault("warnings", []).append(refusal)
            wanted = module_options(spec, options["pull"])
            result["docker_run"] = docker_run_argv(spec)

        answer = self._execute_module(module_name=MODULE, module_args=wanted, task_vars=task_vars)
        problem = answer.get("msg", "") if answer.get("failed") else None
        if problem is None and options["state"] == "started" and not self._task.check_mode:
            problem = trouble_after_start(answer)
        if problem is not None:
            answer.update(failed=True, msg=explain(host, options["name"], options["image"] or "", str(problem)))
        # The traceback is of the error in the words of docker_container, and would be shown in place of ours.
        for key in ("invocation", "exception"):
            answer.pop(key, None)
        warnings = result.pop("warnings", []) + answer.pop("warnings", [])
        result.update(answer)
        if warnings:
            result["warnings"] = warnings
        return result

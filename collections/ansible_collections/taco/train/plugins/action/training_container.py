# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a training container as a profile says, by community.docker.docker_container."""

import uuid
from typing import Any, Callable

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.plugin_utils.container.change import (
    NO_CONTAINER,
    NO_IMAGE,
    described,
    ends_processes,
    foreign,
    foreign_refusal,
    inspected,
    interruption,
    left,
    trouble_after_start,
    unknown_change,
    with_updates,
)
from ansible_collections.taco.train.plugins.plugin_utils.container.errors import explain, lacks_library, not_ready
from ansible_collections.taco.train.plugins.plugin_utils.container.options import (
    OPTIONS,
    harp_refusal,
    module_options,
    spec_of,
    with_unique_label,
)
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import docker_run_argv, mount_folders
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError

MODULE = "community.docker.docker_container"
INFO = "community.docker.docker_container_info"
IMAGE = "community.docker.docker_image_info"
FOLDERS = "taco.train.host_folders"
RUNNING_WORK = "taco.train.running_work"
COMMAND = "ansible.legacy.command"
Result = dict[str, Any]


class ActionModule(ActionBase):
    """Turn the options into those of docker_container, which predicts the change, and its errors into advice."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: Result | None = None) -> Result:
        result: Result = super().run(tmp, task_vars)
        self._variables = task_vars or {}
        self._host = self._variables.get("inventory_hostname", "this host")
        _ignored, self._options = self.validate_argument_spec(**OPTIONS)
        # A plan has the difference also without --diff, and Ansible shows it where the task still says so at its end.
        is_shown, self._task.diff = self._task.diff, True
        try:
            result.update(self._absent() if self._options["state"] == "absent" else self._started())
        finally:
            self._task.diff = is_shown
        return result

    def _started(self) -> Result:
        name, check_mode = self._options["name"], self._task.check_mode
        try:
            spec = spec_of(self._options)
        except InvalidValueError as error:
            raise AnsibleActionFail(f"{self._host}: {error}") from None
        refusal = harp_refusal(self._options, self._host)
        # Under check mode the role harp has not really run, so a missing configuration proves nothing.
        if refusal and not check_mode:
            raise AnsibleActionFail(refusal)
        wanted = module_options(spec, self._options["pull"])
        predicted = with_updates(self._execute(MODULE, wanted, check_mode=True))
        problem = not_ready(predicted["msg"]) if predicted.get("failed") else None
        if problem and check_mode:
            answer: Result = unknown_change(name, problem, wanted)
        else:
            stranger = self._foreign(predicted.get("container"), self._image) if predicted.get("changed") else None
            if stranger:
                raise AnsibleActionFail(f"{self._host}: {stranger}")
            answer = self._changed(wanted, predicted, predicted.get("container"), mount_folders(spec))
        if not answer.get("failed") and not check_mode:
            trouble = trouble_after_start(answer)
            answer.update({"failed": True, "msg": self._explained(trouble)} if trouble else {})
        warnings = [refusal] if refusal else []
        return {**answer, "docker_run": docker_run_argv(spec), "warnings": warnings + answer.get("warnings", [])}

    def _absent(self) -> Result:
        wanted = {"name": self._options["name"], "state": "absent"}
        predicted = with_updates(self._execute(MODULE, wanted, check_mode=True))
        if predicted.get("failed") and lacks_library(predicted["msg"]):
            return self._removed_by_command()
        problem = not_ready(predicted["msg"]) if predicted.get("failed") else None
        if problem:
            return self._left(left(self._options["name"], problem))
        found = self._execute(INFO, {"name": self._options["name"]}) if predicted.get("changed") else {}
        if found.get("failed"):
            return {**found, "msg": self._explained(found["msg"])}
        stranger = self._foreign(found.get("container"), self._image)
        return self._left(stranger) if stranger else self._changed(wanted, predicted, found.get("container"))

    def _changed(
        self, wanted: Result, predicted: Result, container: Result | None, folders: list[str] | None = None
    ) -> Result:
        """The result of docker_container, which runs only where it predicts a change and no running work would be ended."""
        if predicted.get("failed"):
            return {**predicted, "msg": self._explained(predicted["msg"])}
        work = self._running_work() if ends_processes(predicted) else {}
        if work.get("failed"):
            return work
        # Whether a newer image is to be pulled is not predicted.
        settled = not predicted.get("changed") and wanted.get("pull") != "always"
        answer = predicted if settled or self._task.check_mode else self._applied(wanted, folders)
        change = described(self._options["name"], self._options["state"], predicted, container)
        return {**answer, **change, "warnings": work.get("warnings", []) + answer.get("warnings", [])}

    def _applied(self, wanted: Result, folders: list[str] | None) -> Result:
        if folders:
            # The engine creates the folders of its mounts where the host lacks them.
            noted = {"paths": folders, "state_dir": self._options["state_dir"]}
            recorded = self._execute(FOLDERS, noted)
            if recorded.get("failed"):
                return recorded
        answer = self._execute(MODULE, with_unique_label(wanted, uuid.uuid4().hex))
        if answer.get("failed"):
            answer["msg"] = self._explained(answer["msg"])
        return answer

    def _removed_by_command(self) -> Result:
        """The result of the removal on a host whose Python can't run docker_container."""
        name = self._options["name"]
        found = self._execute(COMMAND, {"argv": ["docker", "container", "inspect", name]}, check_mode=False)
        said = str(found.get("stderr") or "")
        # Without docker there is no container, and the command has no output.
        if found.get("failed") and (not said or NO_CONTAINER in said.lower()):
            return {"changed": False}
        if found.get("failed"):
            return self._left(left(name, f"the engine can't be asked ({said.strip()})"))
        container = inspected(found.get("stdout", ""))
        stranger = self._foreign(container, self._image_by_command)
        if stranger:
            return self._left(stranger)
        work = self._running_work()
        change = {
            "changed": True,
            "diff": {"before": {"exists": True}, "after": {"exists": False}},
            **described(name, "absent", {"changed": True}, container),
        }
        if work.get("failed") or self._task.check_mode:
            return {**change, **work}
        removed = self._execute(COMMAND, {"argv": ["docker", "rm", "--force", name]})
        if removed.get("failed"):
            raise AnsibleActionFail(self._explained(removed.get("stderr") or removed.get("msg")))
        return {**change, **work}

    def _foreign(self, container: Result | None, image_of: Callable[[str], Result]) -> str | None:
        """Why a container is not to be changed, None for one that may be and where there is none."""
        if container is None or self._options["take_over"]:
            return None
        image = container.get("Image")
        why = foreign(container, image_of(image) if image else {})
        return foreign_refusal(self._options["name"], container, why) if why else None

    def _image(self, image: str) -> Result:
        """What the engine says of an image, empty where it has none of this id."""
        found = self._execute(IMAGE, {"name": [image]})
        if found.get("failed"):
            raise AnsibleActionFail(self._explained(found["msg"]))
        return next(iter(found["images"]), {})

    def _image_by_command(self, image: str) -> Result:
        """What the engine says of an image, on a host whose Python can't run docker_image_info."""
        found = self._execute(COMMAND, {"argv": ["docker", "image", "inspect", image]}, check_mode=False)
        problem = str(found.get("stderr") or found.get("msg"))
        if found.get("failed") and NO_IMAGE not in problem.lower():
            raise AnsibleActionFail(self._explained(problem))
        return inspected(found.get("stdout", ""))

    def _left(self, message: str) -> Result:
        if not self._options["may_stay"]:
            raise AnsibleActionFail(f"{self._host}: {message}")
        return {"changed": False, "left": message, "warnings": [f"{self._host}: {message}"]}

    def _running_work(self) -> Result:
        """Warnings about processes that the task would end, or the failure where it must not end them."""
        if self._options["interrupt_running_work"]:
            return {}
        name = self._options["name"]
        asked = {"interruption": interruption(name, self._options["state"]), "container": name, "gpus": False}
        found = self._execute(RUNNING_WORK, asked)
        return found if found.get("failed") else {"warnings": found.get("warnings", [])}

    def _explained(self, message: Any) -> str:
        return explain(self._host, self._options["name"], self._options["image"] or "", str(message))

    def _execute(self, module: str, arguments: Result, check_mode: bool | None = None) -> Result:
        """The result of a module, in check mode or not, without what Ansible would show in place of our messages."""
        of_task = self._task.check_mode
        self._task.check_mode = of_task if check_mode is None else check_mode
        try:
            result: Result = self._execute_module(module_name=module, module_args=arguments, task_vars=self._variables)
        finally:
            self._task.check_mode = of_task
        # The traceback is of the error in the words of the module.
        return {key: value for key, value in result.items() if key not in ("invocation", "exception")}

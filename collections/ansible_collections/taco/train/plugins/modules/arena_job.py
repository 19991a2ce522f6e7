#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: arena_job
short_description: Run an MPIJob with Arena
version_added: 1.0.0
description:
  - Submits a job with C(arena submit mpi) on the task's host, and waits until its launcher and all of its workers
    run, or until it succeeded.
  - With O(state=absent) it saves the log of the launcher, deletes the job and waits until Arena no longer lists it.
  - If Arena has the record of a job that no longer exists, C(arena delete) removes the record.
  - Options that Arena's chart cannot set, such as hugepages, the size of C(/dev/shm) or C(privileged), are refused.
  - With C(gpu_topology) Arena's chart changes more than the placement of the workers. They share the network of their node, and have no
    separate C(/dev/shm).
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  platform:
    platforms: posix
  check_mode:
    support: full
    details: Nothing is submitted or deleted.
  diff_mode:
    support: none
options:
  name:
    description: Name of the job.
    type: str
    default: taco-bench
  namespace:
    description: Namespace of the job. Not set means Arena's default.
    type: str
  definition:
    description: The manifest of the job, as the filter P(taco.train.mpijob_manifest#filter) returns it. Required with O(state=present).
    type: dict
  state:
    description: Whether the job exists. An existing job is refused with V(present), because Arena cannot change it.
    type: str
    choices: [present, absent]
    default: present
  until:
    description:
      - Whether to wait until all pods run, or until the command of the launcher has succeeded.
      - V(ended) is like V(succeeded), but a failed command does not fail the task.
    type: str
    choices: [running, succeeded, ended]
    default: running
  wait_timeout:
    description: Seconds to wait.
    type: int
    default: 600
  interrupt_running_work:
    description:
      - Whether a job may be deleted while C(mpirun) runs in its launcher, which C(kubectl) lists on the task's host.
      - Otherwise the task fails and lists the work and the pods. In check mode it warns.
      - It also fails if the processes of a running launcher cannot be listed.
    type: bool
    default: false
  poll:
    description: Seconds between two requests.
    type: float
    default: 2.0
  allow_lost_logs:
    description:
      - Whether a job may be deleted if the log of its launcher cannot be read. Otherwise it stays, and the task fails with the reason.
    type: bool
    default: false
  any_manager:
    description:
      - Whether a job without the label C(app.kubernetes.io/managed-by=taco.train) may be deleted. Jobs of this module have the label.
      - Otherwise the task fails and names the manager, which C(kubectl get) prints on the task's host.
    type: bool
    default: false
  logs_dir:
    description: The folder on the task's host for the launcher's log, with O(state=absent). Not set means that the log is not saved.
    type: path
  kubeconfig:
    description: The kubeconfig on the task's host. Not set means Arena's default.
    type: path
  progress_file:
    description:
      - A file on the task's host that gets at once each line of RV(progress).
      - Not set means a temporary one whose lines Ansible shows while the task runs, if the task's host is the controller.
    type: path
  context:
    description:
      - The context of the kubeconfig by which C(kubectl) reaches the pods.
      - Arena has no option for it and takes the kubeconfig's current context. The task fails, and changes nothing, unless
        C(kubectl config current-context) prints this one on the task's host.
    type: str
  python:
    description: Path of the Python interpreter in the image, for modules that run in the pods.
    type: path
    default: /usr/bin/python3
  pod_variables:
    description: Variables for every host of RV(pods).
    type: dict
    default: {}
  arena:
    description: Name or path of the command.
    type: str
    default: arena
"""

EXAMPLES = r"""
- name: Start workers that are placed by GPU topology
  taco.train.arena_job:
    name: taco-bench
    definition: "{{ job | taco.train.mpijob_manifest }}"
  vars:
    job:
      image: registry.cn-hangzhou.aliyuncs.com/kubernetes-image-hub/tensorflow-benchmark:tf2.3.0-py3.7-cuda10.1
      workers: 4
      gpus_per_worker: 1
      gpu_topology: true
      command: [sleep, infinity]
      mounts: []
      privileged: false
      hugepages: 0
      shm_size: 0
  register: workers

- name: Remove the job
  taco.train.arena_job:
    name: taco-bench
    state: absent
    logs_dir: /var/tmp/taco-train/pods
"""

RETURN = r"""
argv:
  description: The command that submitted the job.
  returned: with O(state=present)
  type: list
  elements: str
phase:
  description: The status of the job in Arena, such as V(RUNNING).
  returned: with O(state=present)
  type: str
namespace:
  description: Its namespace.
  returned: with O(state=present)
  type: str
launcher:
  description: The launcher, by its C(pod).
  returned: with O(state=present)
  type: dict
workers:
  description: The workers, each with C(pod) and C(node).
  returned: with O(state=present)
  type: list
  elements: dict
placement:
  description: The node of each worker, by its pod.
  returned: with O(state=present)
  type: dict
hosts:
  description: The hosts of mpirun, each with C(name) and C(slots).
  returned: with O(state=present)
  type: list
  elements: dict
pods:
  description: The pods as hosts, each with C(name), C(groups) and C(variables).
  returned: success
  type: list
  elements: dict
container:
  description: The name of the container in each pod.
  returned: with O(state=present)
  type: str
duration:
  description: Seconds from the submission to the requested state.
  returned: with O(state=present)
  type: float
stdout:
  description: The log of the launcher.
  returned: with O(until=succeeded) and O(until=ended)
  type: str
logs:
  description: On the task's host, the path of each saved log, by pod. Empty with O(state=present).
  returned: success
  type: dict
msg:
  description: The state of the job.
  returned: success
  type: str
progress:
  description: What was waited for. Also of a task that fails.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.words import InvalidValueError
from ansible_collections.taco.train.plugins.module_utils.cluster.arena_client import Arena, ArenaError
from ansible_collections.taco.train.plugins.module_utils.cluster.arena_lifecycle import absent, present
from ansible_collections.taco.train.plugins.module_utils.cluster.clock import ProgressLines
from ansible_collections.taco.train.plugins.module_utils.cluster.definition import Definition
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import PodConnection


def main():
    module = AnsibleModule(
        supports_check_mode=True,
        argument_spec=dict(
            name=dict(type="str", default="taco-bench"),
            namespace=dict(type="str"),
            definition=dict(type="dict"),
            state=dict(type="str", choices=["present", "absent"], default="present"),
            until=dict(type="str", choices=["running", "succeeded", "ended"], default="running"),
            wait_timeout=dict(type="int", default=600),
            interrupt_running_work=dict(type="bool", default=False),
            allow_lost_logs=dict(type="bool", default=False),
            any_manager=dict(type="bool", default=False),
            poll=dict(type="float", default=2.0),
            logs_dir=dict(type="path"),
            kubeconfig=dict(type="path"),
            context=dict(type="str"),
            progress_file=dict(type="path"),
            arena=dict(type="str", default="arena"),
            python=dict(type="path", default="/usr/bin/python3"),
            pod_variables=dict(type="dict", default={}),
        ),
        required_if=[("state", "present", ["definition"])],
    )
    params = module.params
    progress = ProgressLines(params["progress_file"])

    def run(argv):
        return module.run_command(argv, handle_exceptions=False, expand_user_and_vars=False, errors="replace")

    arena = Arena(params, run, progress)
    reached = PodConnection(params["kubeconfig"] or "", params["context"] or "", params["python"])
    try:
        arena.require_context()
        if params["state"] == "absent":
            result, warnings = absent(arena, module.check_mode)
        else:
            definition = Definition(params["definition"], params["name"])
            result, warnings = present(arena, definition, reached, module.check_mode), []
    except InvalidValueError as error:
        module.fail_json(msg=f"the job can't be submitted through Arena: {error}", progress=progress.lines)
    except (ArenaError, OSError) as error:
        module.fail_json(msg=failure(error), progress=progress.lines)
    for warning in warnings:
        module.warn(warning)
    module.exit_json(progress=progress.lines, **result)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: arena_job
short_description: Run an MPIJob with Arena
version_added: 1.0.0
description:
  - Submits a job with C(arena submit mpi) on the host that the task is for, and waits until its launcher and all of its workers
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
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  check_mode:
    support: full
    details: Nothing is submitted or deleted.
  diff_mode:
    support: none
options:
  job:
    description: The job, in the format of the filter P(taco.train.mpijob_manifest#filter).
    type: dict
    required: true
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
      - Whether a job may be deleted while C(mpirun) runs in its launcher, which C(kubectl) lists on the host that the task is for.
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
      - Otherwise the task fails and names the manager, which C(kubectl get) prints on the host that the task is for.
    type: bool
    default: false
  logs_dir:
    description: The folder on the controller for the launcher's log, with O(state=absent). Not set means that the log is not saved.
    type: str
  kubeconfig:
    description:
      - The kubeconfig on the host that the task is for. Not set means Arena's default.
      - A C(~) is the home folder of the user on that host, and on the controller for C(kubectl), which reaches the pods.
    type: str
  context:
    description:
      - The context of the kubeconfig by which C(kubectl) reaches the pods.
      - Arena has no option for it and takes the kubeconfig's current context. The task fails, and changes nothing, unless
        C(kubectl config current-context) prints this one on the host that the task is for.
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
    job:
      name: taco-bench
      image: registry.cn-hangzhou.aliyuncs.com/kubernetes-image-hub/tensorflow-benchmark:tf2.3.0-py3.7-cuda10.1
      workers: 4
      gpus_per_worker: 1
      gpu_topology: true
      command: [sleep, infinity]
      mounts: []
      privileged: false
      hugepages: 0
      shm_size: 0
  register: job

- name: Remove the job
  taco.train.arena_job:
    state: absent
    logs_dir: results/latest/logs
    job:
      name: taco-bench
      workers: 4
      gpus_per_worker: 1
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
  returned: with O(state=present)
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
  description: The path of each saved log, by pod.
  returned: with O(state=absent)
  type: dict
"""

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: mpijob
short_description: Run the pods of a training job as an MPIJob
version_added: 1.0.0
description:
  - Creates an MPIJob in the API version that the cluster serves, and waits until its launcher runs and all of its workers are Ready. While
    it waits, it shows how many are Ready, and the problems of the others.
  - Before the submission, it compares the requests of a worker with the capacity of the nodes, and lists missing resources.
  - An existing job of this module with the same options is not changed. The pods of a job are created once, so a job with other options
    for them is an error, or with O(replace) is deleted and recreated.
  - Modules of C(kubernetes.core) on the task's host make all calls of the API server. Calls to an overloaded server and lost connections
    are retried; a refusal names the missing permission.
notes:
  - A job that does not become ready stays in the cluster for analysis. The error has the command that removes it.
requirements:
  - kubectl on the controller, to reach the pods
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
  - taco.train.kubernetes
  - taco.train.kubernetes.connection
attributes:
  check_mode:
    support: full
    details: Writes nothing. Does not predict whether the server accepts the job and the pods start.
  diff_mode:
    support: full
options:
  name:
    type: str
    default: taco-bench
    description: Name of the job.
  namespace:
    type: str
    default: default
    description: Namespace of the job.
  state:
    type: str
    choices: [present, absent]
    default: present
    description:
      - V(present) runs the job and waits until all of its pods are ready.
      - V(absent) saves the logs of its pods in O(logs_dir), deletes the job, and waits until job and pods are gone.
  api_version:
    type: str
    choices: [v1, v2beta1]
    description: The API version of the job. Not set means the version that the cluster serves, or the stored one if it serves both.
  workers:
    type: int
    description: Number of workers. Required with O(state=present).
  gpus_per_worker:
    type: int
    description: GPUs of each worker, and ranks on it. Required with O(state=present).
  image:
    type: str
    description: Image of launcher and workers. Not set means the vendor's for TKE.
  command:
    type: list
    elements: str
    description: The launcher's command. Not set means an idle command.
  gpus:
    type: str
    choices: [all, none]
    default: all
    description: Whether the workers request GPUs.
  memory:
    type: str
    description: Memory of each worker, with its shared memory and without its hugepages. Not set means V(100Gi).
  shm_size:
    type: str
    description: Size of C(/dev/shm). Not set means V(32g).
  hugepages:
    type: int
    description: Pages of 1 GiB for each worker. Not set means O(gpus_per_worker) * 5 + 10.
  mounts:
    type: list
    elements: str
    description: Paths of the node to mount in the workers, as C(source:target) or C(source:target:ro). Not set means the paths of HARP.
  mounts_extra:
    type: list
    elements: str
    default: []
    description: Additional mounts.
  privileged:
    type: bool
    description: Whether the workers are privileged. Not set means V(true).
  network_mode:
    type: str
    description: V(host) for the network of the node.
  environment:
    type: dict
    default: {}
    description: Environment variables of launcher and workers.
  gpu_topology:
    type: bool
    default: false
    description: Whether ACK places the workers by GPU topology.
  clean_pod_policy:
    type: str
    choices: [Running, All, None]
    default: Running
    description: Which pods the operator removes when the job has ended.
  launcher_cpu:
    type: str
    description: CPUs of the launcher. Not set means V(1).
  launcher_memory:
    type: str
    description: Memory of the launcher. Not set means V(2Gi).
  replace:
    type: bool
    default: false
    description:
      - Whether a job that has ended or differs in immutable fields is deleted and recreated.
      - A job of another manager needs O(any_manager) instead.
  any_manager:
    type: bool
    default: false
    description:
      - Whether a job without the label C(app.kubernetes.io/managed-by=taco.train), which every job of this module has, may be replaced or
        deleted.
      - Otherwise the task fails and names the manager, even if the job does not differ.
  interrupt_running_work:
    type: bool
    default: false
    description:
      - Whether a job may be deleted or replaced while its launcher runs a command other than C(sleep), or C(mpirun) runs in it.
      - Otherwise the task fails and lists the work and the pods. In check mode it warns.
  allow_lost_logs:
    type: bool
    default: false
    description:
      - Whether a job may be deleted or replaced although the log of a pod can't be read, as when the kubelet of its node doesn't answer.
        A warning names each pod and the reason.
      - Otherwise the job stays and the task fails with the reasons. A container that never started and a deleted pod have no log to lose.
  wait_timeout:
    type: int
    default: 600
    description: Seconds to wait until the pods are ready, or gone.
  poll:
    type: float
    default: 2.0
    description: The shortest interval between two requests in seconds. Pods are watched in between.
  logs_dir:
    type: str
    description: Folder on the controller for the logs of pods that are deleted. Not set means that no logs are saved.
  python:
    type: str
    default: /usr/bin/python3
    description: Path of Python in the image, for RV(pods).
  nodes:
    type: dict
    default: {}
    description: For each host of the inventory the name of its node in the cluster; empty means the name of the host.
  pod_variables:
    type: dict
    default: {}
    description: Variables of every pod in RV(pods).
seealso:
  - module: kubernetes.core.k8s
  - plugin: taco.train.mpijob_manifest
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Run 4 workers of 8 GPUs
  taco.train.mpijob:
    workers: 4
    gpus_per_worker: 8
  delegate_to: localhost
  run_once: true
  register: job

- name: Add the pods as hosts
  ansible.builtin.add_host:
    name: "{{ item.name }}"
    groups: "{{ item.groups }}"
    ansible_connection: kubernetes.core.kubectl
    ansible_kubectl_namespace: "{{ job.namespace }}"
  loop: "{{ job.pods }}"

- name: Remove the MPIJob and save the logs of its pods
  taco.train.mpijob:
    state: absent
    logs_dir: results/pods
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
msg:
  description: The action and the nodes of the workers.
  returned: success
  type: str
api_version:
  description: The API version of the job.
  returned: success
  type: str
  sample: v2beta1
namespace:
  description: Namespace of the job.
  returned: success
  type: str
  sample: default
manifest:
  description: The manifest of the job. Empty with O(state=absent).
  returned: success
  type: dict
launcher:
  description: The launcher's C(pod), in which mpirun can be started. Empty if there is none, such as in check mode before the job exists.
  returned: success
  type: dict
  sample: {pod: taco-bench-launcher}
workers:
  description: The workers in the order of their ranks, each with C(pod), C(node), C(ip) and C(node_ip).
  returned: success
  type: list
  elements: dict
hosts:
  description: The workers in the format of M(taco.train.benchmark).
  returned: success
  type: list
  elements: dict
  sample: [{name: taco-bench-worker-0, slots: 8}]
placement:
  description: The node of each worker.
  returned: success
  type: dict
  sample: {taco-bench-worker-0: gpu-1}
pods:
  description: Workers and launcher as hosts for an inventory, each with C(name), C(groups) and C(variables).
  returned: success
  type: list
  elements: dict
logs:
  description: On the controller, the file with the log of each pod that was deleted.
  returned: success
  type: dict
  sample: {taco-bench-launcher: results/20260101T000000Z/pods/taco-bench-launcher.log}
"""

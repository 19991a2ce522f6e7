#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: mpijob
short_description: Run a training job's pods as an MPIJob
version_added: 1.0.0
description:
  - Brings an MPIJob into being in the API version that the cluster serves, and waits until its launcher runs and all of its
    workers are Ready. While it waits it says how many are, and what is wrong with the others.
  - Before anything is submitted, the nodes are held against what each worker asks for, and what they lack is named.
  - A job of this module that is there and is as asked for is left alone. Its pods are made once, so one that differs in what they are
    made from is an error, or with O(replace) is deleted and made anew.
  - All calls of the API server are those of modules of C(kubernetes.core), run on the task's host. What passes by itself, such as
    an overloaded server or a lost connection, is waited out; a refusal names the permission that is missing.
notes:
  - A job that doesn't get ready stays in the cluster, for whoever looks for the reason. The error says how to remove it.
requirements:
  - kubectl on the controller, to reach the pods
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
  - taco.train.kubernetes
attributes:
  check_mode:
    support: full
    details: Reads and writes nothing. Whether the server would take the job, and the pods would start, isn't known before.
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
      - V(present) has the job run with all of its pods ready.
      - V(absent) keeps the logs of its pods in O(logs_dir), deletes it, and waits until it and they are gone.
  api_version:
    type: str
    choices: [v1, v2beta1]
    description: The version to submit it in. Not set means the one that the cluster serves, and stores where it serves both.
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
    description: The launcher's command. Not set means one that waits.
  gpus:
    type: str
    choices: [all, none]
    default: all
    description: Whether the workers ask for their GPUs.
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
    description: What of the node the workers see, as C(source:target) or C(source:target:ro). Not set means what HARP needs.
  mounts_extra:
    type: list
    elements: str
    default: []
    description: Mounts in addition.
  privileged:
    type: bool
    description: Whether the workers have all privileges. Not set means that they do.
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
    description: Whether ACK places the workers by how their GPUs are connected.
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
      - Whether a job that differs in what can't be changed, or that has ended, is deleted and created again.
      - Also permits replacing or deleting a job without the label C(app.kubernetes.io/managed-by=taco.train), which every job of this
        module has. Otherwise the task fails and names the manager, even if the job doesn't differ.
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
      - Otherwise the job stays and the task fails with the reasons. Logs of containers that never started, and of pods that are gone, are
        none that could be lost.
  wait_timeout:
    type: int
    default: 600
    description: Seconds that the pods may take to be ready, or to be gone.
  poll:
    type: float
    default: 2.0
    description: The least seconds between two looks at the pods. They are watched, so nothing is asked while nothing changes.
  logs_dir:
    type: str
    description: Folder on the controller for the logs of pods that are deleted. Not set means that none are kept.
  kubeconfig:
    type: raw
    description: Path of the kubeconfig on the task's host, or its content. Not set means what the client finds.
  context:
    type: str
    description: Context of the kubeconfig. Not set means the current one.
  access:
    type: dict
    default: {}
    description: Further options of the modules of C(kubernetes.core) to reach the API server, such as C(host) and C(api_key).
  python:
    type: str
    default: /usr/bin/python3
    description: Python of the image, for RV(pods).
  nodes:
    type: dict
    default: {}
    description: For each host of the inventory that is a node, what the cluster calls it; an empty name means the host's own.
  pod_variables:
    type: dict
    default: {}
    description: Variables that every pod has in RV(pods).
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

- name: Remove the job and keep what its pods have printed
  taco.train.mpijob:
    state: absent
    logs_dir: "{{ taco_run_dir }}/pods"
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
msg:
  description: What was done and where the workers are.
  returned: success
  type: str
api_version:
  description: The version that the job was submitted in.
  returned: success
  type: str
  sample: v2beta1
namespace:
  description: Namespace of the job.
  returned: success
  type: str
  sample: default
manifest:
  description: The job as it was asked for. Empty with O(state=absent).
  returned: success
  type: dict
launcher:
  description: In which C(pod) mpirun can be started. Empty when there is none, as in check mode before the job was made.
  returned: success
  type: dict
  sample: {pod: taco-bench-launcher}
workers:
  description: The workers in the order of their ranks, each with C(pod), C(node), C(ip) and C(node_ip).
  returned: success
  type: list
  elements: dict
hosts:
  description: The workers as M(taco.train.benchmark) wants them.
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

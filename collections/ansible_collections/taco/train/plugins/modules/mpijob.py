#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: mpijob
short_description: Run the pods of a training job as an MPIJob
version_added: 1.0.0
description:
  - Creates an MPIJob in the API version that the cluster serves, and waits until its launcher runs and all of its workers are Ready.
    RV(progress) has how many were Ready when, and the problems of the others. Ansible shows these lines while the task runs, if the
    task's host is the controller.
  - Before the submission, it compares the requests of a worker with the capacity of the nodes, and lists missing resources.
  - An existing job of this module with the same options is not changed. The pods of a job are created once, so a job with other options
    for them is an error, or with O(replace) is deleted and recreated.
  - The task's host asks the API server. Requests to an overloaded server and lost connections
    are retried; a refusal names the missing permission.
notes:
  - A job that does not become ready stays in the cluster for analysis. The error has the command that removes it.
requirements:
  - kubectl on the controller, to reach the pods
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
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
  definition:
    type: dict
    description:
      - The manifest of the job, as the filter P(taco.train.mpijob_manifest#filter) returns it. Required with O(state=present).
      - Its API version becomes the one that the cluster serves, its name and namespace those of the module.
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
    type: path
    description: Folder on the task's host for the logs of pods that are deleted. Not set means that no logs are saved.
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
    definition: "{{ {'workers': 4, 'gpus_per_worker': 8} | taco.train.mpijob_manifest }}"
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
    logs_dir: /var/tmp/taco-train/pods
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
  description: On the task's host, the file with the log of each pod that was deleted.
  returned: success
  type: dict
  sample: {taco-bench-launcher: /var/tmp/taco-train/pods/taco-bench-launcher.log}
progress:
  description: How the job came to its state, a line for each change that was seen. Also of a task that fails.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.words import InvalidValueError
from ansible_collections.taco.train.plugins.module_utils.cluster.arguments import access_arguments, client_of, expanded
from ansible_collections.taco.train.plugins.module_utils.cluster.client import KubernetesError
from ansible_collections.taco.train.plugins.module_utils.cluster.definition import Definition
from ansible_collections.taco.train.plugins.module_utils.cluster.jobs import JobError, JobOptions, Jobs
from ansible_collections.taco.train.plugins.module_utils.cluster.pods import PodConnection
from ansible_collections.taco.train.plugins.module_utils.cluster.present import absent, present
from ansible_collections.taco.train.plugins.module_utils.cluster.result import result_of


def main():
    module = AnsibleModule(
        supports_check_mode=True,
        argument_spec=dict(
            access_arguments(),
            name=dict(type="str", default="taco-bench"),
            namespace=dict(type="str", default="default"),
            state=dict(type="str", choices=["present", "absent"], default="present"),
            api_version=dict(type="str", choices=["v1", "v2beta1"]),
            definition=dict(type="dict"),
            replace=dict(type="bool", default=False),
            any_manager=dict(type="bool", default=False),
            interrupt_running_work=dict(type="bool", default=False),
            allow_lost_logs=dict(type="bool", default=False),
            wait_timeout=dict(type="int", default=600),
            poll=dict(type="float", default=2.0),
            logs_dir=dict(type="path"),
            python=dict(type="str", default="/usr/bin/python3"),
            nodes=dict(type="dict", default={}),
            pod_variables=dict(type="dict", default={}),
        ),
        required_if=[("state", "present", ["definition"])],
    )
    params = module.params
    client = client_of(module)
    jobs = Jobs(client, params["name"], params["namespace"])
    options = JobOptions(
        check_mode=module.check_mode, **{name: params[name] for name in JobOptions._fields if name in params}
    )
    reached = PodConnection(expanded(params["kubeconfig"] or ""), params["context"] or "", params["python"])
    try:
        if params["state"] == "absent":
            outcome = absent(jobs, options)
        else:
            outcome = present(jobs, Definition(params["definition"], params["name"]), options)
        result = result_of(jobs, outcome, options, reached, params["nodes"], params["pod_variables"])
    except (InvalidValueError, JobError, KubernetesError, OSError) as error:
        module.fail_json(msg=failure(error), progress=client.lines)
    for warning in jobs.warnings:
        module.warn(warning)
    module.exit_json(progress=client.lines, **result)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: kubernetes_facts
short_description: Look at a Kubernetes cluster before anything is done to it
version_added: 0.3.0
description:
  - Asks a cluster for its nodes, for its CRD of MPIJobs, and whether we have every permission that the collection needs on the way
    from preflight to rollback. Changes nothing.
  - A cluster that can't be asked is no failure, but said in what is returned, so that M(taco.train.assess) can say it with all the rest.
requirements:
  - The collection kubernetes.core on the controller
  - kubernetes in the Python of the task's host
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
attributes:
  action:
    support: full
  async:
    support: none
  become:
    description: Is usable alongside C(become), which the API server doesn't ask for.
    support: full
  bypass_host_loop:
    support: none
  check_mode:
    support: full
  diff_mode:
    support: none
  platform:
    platforms: posix
options:
  namespace:
    type: str
    default: default
    description: The namespace that the training runs in.
  kubeconfig:
    type: path
    description: The kubeconfig on the task's host. Not set means what the client finds.
  context:
    type: str
    description: The context of the kubeconfig, when it isn't the current one.
  access:
    type: dict
    default: {}
    description: More options for the modules of C(kubernetes.core), such as C(host) and C(api_key).
seealso:
  - module: taco.train.assess
"""

EXAMPLES = r"""
- name: Look at the cluster
  taco.train.kubernetes_facts:
    namespace: training
  delegate_to: localhost
  run_once: true
  register: cluster
"""

RETURN = r"""
kubernetes:
  description: What was found.
  returned: always
  type: dict
  contains:
    error:
      description: Why the cluster can't be asked, with what helps, or V(null).
      type: str
    missing:
      description: The permissions that we lack.
      type: list
      elements: str
      sample: [patch nodes]
    nodes:
      description: The nodes, without what can be long; V(null) when they may not be listed.
      type: list
      elements: dict
    crd:
      description: The CRD of MPIJobs, or V(null).
      type: dict
    crd_forbidden:
      description: Whether the CRD may not be read.
      type: bool
"""

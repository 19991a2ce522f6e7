#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: kubernetes_info
short_description: Look at a Kubernetes cluster before anything is done to it
version_added: 1.0.0
description:
  - Asks a cluster for its nodes, for its CRD of MPIJobs, and whether we have every permission that the collection needs on the way
    from preflight to rollback. Changes nothing.
  - A cluster that can't be asked is no failure, but said in what is returned, so that M(taco.train.verdict) can say it with all the rest.
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
  diff_mode:
    support: none
options:
  namespace:
    type: str
    default: default
    description: The namespace that the training runs in.
seealso:
  - module: taco.train.verdict
"""

EXAMPLES = r"""
- name: Look at the cluster
  taco.train.kubernetes_info:
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
    operators:
      description: The pods of the MPI Operator, or V(null) when pods may not be listed.
      type: list
      elements: dict
      contains:
        name:
          description: The namespace and the name, with C(/) between them.
          type: str
        ready:
          description: Whether the pod is Ready.
          type: bool
        why:
          description: Why it is not Ready.
          type: str
    crd_forbidden:
      description: Whether the CRD may not be read.
      type: bool
"""

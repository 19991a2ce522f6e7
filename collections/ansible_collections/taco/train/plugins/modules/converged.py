#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: converged
short_description: Check whether roles would change a host
version_added: 1.0.0
description:
  - Compares the desired state of roles of this collection with the fact C(taco_node), the result of M(taco.train.node_info), and returns
    whether they would change nothing and not fail.
  - Each role has a variable with its desired state, such as C(hugepages_desired), which it also passes to its module.
  - It is one task for all the roles. A play that ends when its hosts are converged saves the tasks of the roles.
  - Nothing runs on the host.
  - A host is not converged if the controller cannot decide, for example after a role changed the host and set C(taco_node.observed_at) to
    V(null). Then run the roles, which also check the values of variables. Values without an effect on this host are not checked.
  - The roles' variables are those of the host and the play, and their defaults if the play lists the roles under C(roles). The module does
    not see C(vars) of such an entry and C(module_defaults). If your play has these, run the roles instead.
  - If your own play changes the host after the observation, observe the host again before this task.
  - A container is recognized by its label, see M(taco.train.training_container). A container without this label, or whose image has such a
    label, is not converged.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  become:
    description: Is usable alongside C(become), which C(ssh_trust) needs.
    support: full
  check_mode:
    support: full
  diff_mode:
    support: none
options:
  roles:
    description:
      - The roles, by their names in the collection.
    type: list
    elements: str
    choices: [container_engine, eni, harp, hugepages, ssh_trust, training_container]
    required: true
seealso:
  - module: taco.train.node_info
"""

EXAMPLES = r"""
- name: Prepare hosts that are not in the desired state
  hosts: gpu_nodes
  pre_tasks:
    - name: Gather the state of the host
      ansible.builtin.import_role:
        name: taco.train.common

    - name: Check whether the host already has the desired state
      taco.train.converged:
        roles: [hugepages]
      register: pages

    - name: Skip hosts that have the desired state
      ansible.builtin.meta: end_host
      when: pages.converged
  roles:
    - role: taco.train.hugepages

- name: Deploy hosts that are not in the desired state
  hosts: gpu_nodes
  become: true
  pre_tasks:
    - name: Check whether the host already has the desired state
      taco.train.converged:
        roles: [training_container, ssh_trust]
      register: deployed

    # No host trusts the others without them, so it ends for all or for none.
    - name: End the play if every host has the desired state
      ansible.builtin.meta: end_play
      when:
        - ansible_play_hosts | map('extract', hostvars, 'deployed') | map('converged') is all
        - ansible_play_hosts | map('extract', hostvars, 'deployed') | map(attribute='peers_sha256') | unique | length == 1
  roles:
    - role: taco.train.training_container
    - role: taco.train.ssh_trust
"""

RETURN = r"""
converged:
  description:
    - Whether none of the roles would change the host.
    - With C(ssh_trust) this is only valid if RV(peers_sha256) is the same on all hosts of the play, which the play must check.
  returned: success
  type: bool
  sample: true
roles:
  description: The same of each role.
  returned: success
  type: dict
  sample: {hugepages: true, harp: false}
remaining:
  description: The first of the roles that would change the host, and all roles after it.
  returned: success
  type: list
  elements: str
  sample: [harp]
peers_sha256:
  description:
    - Checksum of the peers that the host trusts. V(null) when C(ssh_trust) is not among the roles, or would change the host.
    - There are as many of them as the play has hosts, or more when it is limited to a part of them.
  returned: success
  type: str
  sample: 3fdba35f04dc8c462986c992bcf875546257113072a909c162f7e470e581e278
"""

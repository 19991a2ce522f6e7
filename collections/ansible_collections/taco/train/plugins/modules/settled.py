#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: settled
short_description: Tell whether roles would leave a host as it is
version_added: 1.0.0
description:
  - Fills in the tasks of roles of this collection with the host's variables, and tells by the fact C(taco_node), which is what
    M(taco.train.node_info) returned, whether they would change nothing and fail at nothing.
  - It is one task for all the roles. A play that ends when its hosts are settled saves the tasks of the roles, and comes to the same.
  - Only of C(ssh_trust) the host itself is asked, in check mode, and only when all else is settled.
  - What it can't tell isn't settled. The roles find out then, and say what is wrong.
  - The roles' variables are those of the host and the play, and their defaults where the play lists the roles under C(roles).
    C(vars) at such an entry and C(module_defaults) are not seen, so with these ask the roles themselves.
  - A play of your own that changes the host after it was observed must have it observed again before this is asked.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
options:
  roles:
    description:
      - The roles, by their names in the collection.
      - It can be told of C(container_engine), C(eni), C(harp), C(hugepages), C(ssh_trust) and C(training_container).
    type: list
    elements: str
    required: true
seealso:
  - module: taco.train.node_info
"""

EXAMPLES = r"""
- name: Prepare what isn't prepared
  hosts: gpu_nodes
  pre_tasks:
    - name: Look at the host
      ansible.builtin.import_role:
        name: taco.train.cluster

    - name: See whether the host is as the roles would leave it
      taco.train.settled:
        roles: [hugepages]
      register: pages

    - name: Leave it alone then
      ansible.builtin.meta: end_host
      when: pages.settled
  roles:
    - role: taco.train.hugepages
"""

RETURN = r"""
settled:
  description: Whether all of the roles would leave the host as it is.
  returned: success
  type: bool
  sample: true
roles:
  description: The same of each role.
  returned: success
  type: dict
  sample: {hugepages: true, harp: false}
peers_sha256:
  description:
    - Checksum of the peers that the host trusts, when C(ssh_trust) is among the roles and they are as many as the play has hosts.
    - A host knows nothing of the others' peers, so all hosts together are settled when this is the same on all of them.
  returned: success
  type: str
  sample: 3fdba35f04dc8c462986c992bcf875546257113072a909c162f7e470e581e278
"""

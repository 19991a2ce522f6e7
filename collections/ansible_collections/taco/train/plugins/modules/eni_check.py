#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: eni_check
short_description: Check that a host has the ENIs that HARP needs
version_added: 1.0.0
description:
  - Counts the secondary elastic network interfaces (ENIs) by MAC and PCI address, and fails if their number is not the expected one.
  - The primary interface, members of bonds and interfaces without a PCI device, such as C(docker0) and C(veth), are left out. So are
    InfiniBand ports, virtual functions of a card of this host, and the interface at which the SSH connection arrives.
  - Fails when more than one interface can be the primary one, and O(pattern) does not exclude any of them.
  - Changes nothing.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  platform:
    platforms: posix
options:
  expected:
    description: Required number of secondary ENIs. HARP needs one for each GPU.
    type: int
    required: true
  pattern:
    description:
      - Regular expression for the names of the ENIs. Default is all PCI network devices except the primary interface.
      - With a pattern, ENIs without a PCI device are accepted.
    type: str
  subnet:
    description:
      - Subnets such as V(10.0.1.0/24). If set, each ENI must have an address in one of them.
      - For an ENI that the host has not configured, the addresses in the instance metadata are used, if M(taco.train.node_info) read it.
        Devices with a user-space driver are not checked.
    type: list
    elements: str
    default: []
  nics:
    description:
      - The interfaces of the host, as returned by M(taco.train.node_info). Then they are not observed again, and the addresses in the
        instance metadata are known.
    type: list
    elements: dict
  sysroot:
    description:
      - Root folder of all paths.
      - With another folder than V(/), addresses are unknown.
    type: path
    default: /
seealso:
  - module: taco.train.node_info
"""

EXAMPLES = r"""
- name: Check that there is an ENI for each of eight GPUs
  taco.train.eni_check:
    expected: 8

- name: Gather the state of the host with data of the metadata service
  taco.train.node_info:
    metadata: auto
  register: observed

- name: Check the ENIs of a host that has just been observed
  taco.train.eni_check:
    expected: 8
    nics: "{{ observed.node.nics }}"

- name: Check the ENIs of a machine in a lab, whose interfaces have no PCI device
  taco.train.eni_check:
    expected: 2
    pattern: ^eth[1-9][0-9]*$
    subnet:
      - 10.90.0.0/16
"""

RETURN = r"""
enis:
  description: The secondary ENIs found. Also returned on failure.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Name of the interface, or the PCI address of a device with a user-space driver.
      type: str
      sample: eth1
    mac:
      description: MAC address.
      type: str
      sample: "52:54:00:00:00:02"
    pci:
      description: PCI address, or V(null).
      type: str
      sample: "0000:00:06.0"
    numa_node:
      description: NUMA node, or V(null) when the platform does not report it.
      type: int
      sample: 0
    driver:
      description: Driver of the device, or V(null).
      type: str
      sample: virtio_net
    kind:
      description: The kind of the interface, V(physical) or V(virtual).
      type: str
      sample: physical
    up:
      description: Whether it is up.
      type: bool
      sample: false
    primary:
      description: Always V(false).
      type: bool
      sample: false
    addresses:
      description: Its addresses, other than link-local ones.
      type: list
      elements: str
      sample: [10.0.1.12/24]
    reached:
      description: Always V(false).
      type: bool
      sample: false
    vpc_addresses:
      description: Its addresses in the instance metadata, V(null) when the metadata was not read.
      returned: where O(nics) have them
      type: list
      elements: str
      sample: [10.0.1.12/24]
problems:
  description: The problems, one sentence each.
  returned: always
  type: list
  elements: str
  sample: []
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._node.connection import reached_interface
from ansible_collections.taco.train.plugins.module_utils._node.enis import OPTIONS, EniError, checked_enis, refusal
from ansible_collections.taco.train.plugins.module_utils._node.nics import observe_nics, parse_addresses
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.timed import run_timed

COMMAND_SECONDS = 10


def observed(root):
    """Return the interfaces of the host below a root."""
    addresses = {}
    if os.path.realpath(root) == "/":
        addresses = parse_addresses(run_timed(["ip", "-o", "addr"], COMMAND_SECONDS).stdout)
        return observe_nics(root, addresses, reached=reached_interface(addresses))
    return observe_nics(root, addresses)


def main():
    module = AnsibleModule(supports_check_mode=True, **OPTIONS)
    options = module.params
    nics = observed(options["sysroot"]) if options["nics"] is None else options["nics"]
    try:
        enis, problems = checked_enis(nics, options["expected"], options["pattern"], options["subnet"])
    except EniError as error:
        module.fail_json(msg=failure(error), enis=[], problems=[str(error)])
    if problems:
        module.fail_json(msg=refusal(problems), enis=enis, problems=problems)
    module.exit_json(changed=False, enis=enis, problems=[])


if __name__ == "__main__":
    main()

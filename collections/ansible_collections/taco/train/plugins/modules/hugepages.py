#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: hugepages
short_description: Reserve hugepages in the boot configuration, and restore the original files
version_added: 1.0.0
description:
  - Puts C(default_hugepagesz), C(hugepagesz) and C(hugepages) on the kernel command line of every boot entry, in one place, and removes
    other arguments for the same page size, such as duplicates of a C(sed) that ran twice.
  - On Debian and Ubuntu the place is a drop-in in C(/etc/default/grub.d) that is sourced after every other one. On CentOS 7,
    TencentOS 2.4 and similar distributions it is C(GRUB_CMDLINE_LINUX) in C(/etc/default/grub). On hosts with boot loader specification
    entries (EL8 and later) it is that variable, C(/etc/kernel/cmdline) if it exists, and the entries themselves, or the variable
    C(kernelopts) of GRUB's environment if the entries refer to it. The module edits these directly, without C(grubby).
    If C(/etc/default/grub) is missing there, it is created with a comment that names O(state_dir), and removed again.
  - Finds out what boots the host, from the firmware through C(configfile) of GRUB to the entries. A host that does not boot by GRUB, or
    whose settings contradict each other, is refused before anything is written, with the reason.
  - Before it generates C(grub.cfg), compares it with what the generator makes of the unchanged files, in a place of its own. If they
    differ in more than the pages, such as a password or an argument that only C(grub.cfg) holds, the module fails and names the first
    difference. In check mode the comparison is left out, with a warning, if the generator can't run without writing beside C(grub.cfg).
  - Refuses files in C(/etc/default) that a shell may leave, by C(return), C(exit) or C(exec), before it comes to the pages.
  - Generates the boot entries and reads them back. If an entry is wrong, all changes are undone and the module fails.
  - Refuses a kernel line of more than 2,047 bytes, which the kernel would cut off, and puts its arguments before C(--).
  - Keeps a copy of each file in C(originals) in O(state_dir) while it changes them. If a run was killed, or could not undo a change because
    a file system was full, C(journal.json) there says so, and the next run first restores the files from the copies.
  - Reservations of other page sizes are kept and reported. A bare C(hugepages=) gets an explicit C(hugepagesz=), because the default page
    size changes.
  - The module returns whether a reboot is required, and never reboots.
author: Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  platform:
    platforms: posix
options:
  state:
    description:
      - V(present) reserves the pages.
      - V(absent) removes only the arguments that V(present) added, and folders that it created for files, where they are empty.
      - V(absent) and V(restored) do not change a host that was never changed. They fail if the host has the pages of an earlier run and
        O(state_dir) has no history of it.
      - V(restored) restores every changed file to its content before the first change, with its mode, owner, times and extended
        attributes. C(grub.cfg) is restored too if nothing else changed it, and otherwise generated from the restored files.
    type: str
    choices: [present, absent, restored]
    default: present
  count:
    description: Number of pages.
    type: int
  gpus:
    description:
      - Number of GPUs of the host. HARP then needs C(gpus * 5 + 10) pages of 1 GiB, or as much memory in pages of 2 MiB.
    type: int
  page_size:
    description: Size of the pages.
    type: str
    choices: [1G, 2M]
    default: 1G
  max_memory_fraction:
    description: The largest allowed share of the host's memory. More pages are refused before anything is written.
    type: float
    default: 0.8
  keep_other_sizes:
    description:
      - Whether pages of other sizes on the kernel command line stay. They are returned as RV(kept).
    type: bool
    default: true
  runtime:
    description:
      - Whether to reserve the pages in the running kernel too, so that no reboot is needed. The module fails if the memory is too
        fragmented for all pages. The default page size, also of C(/dev/hugepages), changes only with the next boot.
    type: bool
    default: false
  regenerate:
    description: Whether to generate the boot entries. Otherwise only the files are written.
    type: bool
    default: true
  trial:
    description:
      - While the running kernel lacks the pages, boot once with them and do not change the boot configuration. GRUB clears its one-shot
        entry before it boots it, so a host that does not come back boots its previous configuration at the next power cycle.
      - When the running kernel has the pages, the module makes them permanent. Therefore run it before the reboot, and again when the host
        has passed its checks.
    type: bool
    default: false
  force:
    description: With O(state=restored), also restore files that were edited since.
    type: bool
    default: false
  sysroot:
    description: Root folder of all paths.
    type: path
    default: /
  state_dir:
    description: Folder on the host for copies of the original files.
    type: path
    default: /var/lib/taco-train
"""

EXAMPLES = r"""
- name: Reserve the pages that eight GPUs need
  taco.train.hugepages:
    gpus: 8

- name: Show the changes without applying them
  taco.train.hugepages:
    count: 50
  check_mode: true
  diff: true

- name: Boot the pages once; run this again after the reboot to make them permanent
  taco.train.hugepages:
    gpus: 8
    trial: true

- name: Restore the boot configuration
  taco.train.hugepages:
    state: restored
"""

RETURN = r"""
reason:
  description: What the boot configuration reserved before, and what is required.
  returned: success
  type: str
  sample: the boot configuration has no hugepages; 50 pages of 1G are required for 8 GPUs
reboot_required:
  description: Whether the running kernel differs from the boot configuration in these pages.
  returned: success
  type: bool
  sample: true
layout:
  description: The type of the boot configuration, V(grub-d), V(grub-default) or V(bls).
  returned: success
  type: str
  sample: grub-d
page_size:
  description: Size of the pages.
  returned: success
  type: str
  sample: 1G
count:
  description: Number of pages in the boot configuration afterwards, 0 for none.
  returned: success
  type: int
  sample: 50
said:
  description: Every count of these pages in the boot configuration. A restored file can have more than one.
  returned: success
  type: list
  elements: str
  sample: ["50"]
kernel_args:
  description:
    - The arguments that the files put on the kernel command line; where boot loader specification entries are in use, the line of the
      running kernel's entry.
  returned: success
  type: dict
  contains:
    before:
      description: The arguments before.
      type: list
      elements: str
    after:
      description: The arguments after.
      type: list
      elements: str
kept:
  description: Reservations of other page sizes, which are not changed.
  returned: success
  type: list
  elements: str
  sample: [hugepagesz=2M hugepages=512]
trial:
  description: Whether the pages wait for a trial boot and are not in the boot configuration yet.
  returned: success
  type: bool
  sample: false
files:
  description: The changed files, or in check mode the files to change.
  returned: success
  type: list
  elements: str
  sample: [/etc/default/grub.d/zz-taco-hugepages.cfg]
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._boot.reservation import ERRORS, run
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure


def main():
    module = AnsibleModule(
        argument_spec=dict(
            state=dict(type="str", choices=["present", "absent", "restored"], default="present"),
            count=dict(type="int"),
            gpus=dict(type="int"),
            page_size=dict(type="str", choices=["1G", "2M"], default="1G"),
            max_memory_fraction=dict(type="float", default=0.8),
            keep_other_sizes=dict(type="bool", default=True),
            runtime=dict(type="bool", default=False),
            regenerate=dict(type="bool", default=True),
            trial=dict(type="bool", default=False),
            force=dict(type="bool", default=False),
            sysroot=dict(type="path", default="/"),
            state_dir=dict(type="path", default="/var/lib/taco-train"),
        ),
        mutually_exclusive=[("count", "gpus")],
        required_if=[("state", "present", ("count", "gpus"), True)],
        supports_check_mode=True,
    )
    try:
        result = run(module)
    except ERRORS as error:
        module.fail_json(msg=failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: harp_config
short_description: Configure HARP and verify the result
version_added: 1.0.0
description:
  - Runs the vendor's setup script, or writes the files that your own template rendered. The format of C(ztcp*.conf) is not public, so the
    module never generates them itself.
  - A script must have the checksum O(sha256), unless O(allow_unverified) is set. A downloaded error page is not run.
  - A run succeeds if the exit status is 0, the output contains the success text, and there are O(minimum_files) configuration files that
    are not empty.
  - The script runs again only when the script, the ENIs (their names, MAC, IPv4 and PCI addresses), O(environment), O(interpreter) or the
    configuration files differ from those of the last successful run. Unknown properties of an ENI, for example with a user-space driver,
    are not compared.
  - Only one run at a time changes a host; another run waits, and fails after a minute.
  - Also writes the host manifest, a description of the host for HARP.
  - O(state=absent) reverts the files that this module created or changed. Other changes of a script stay.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
    details: Predicts whether the script would run, but not its files.
  diff_mode:
    support: full
    details: Shows why the script runs, rendered files and the manifest, but not the files of the script.
  platform:
    platforms: posix
options:
  state:
    type: str
    choices: [present, absent]
    default: present
    description:
      - V(absent) restores each configuration file that a script or a template changed, and removes new files, the manifest and the state
        in O(state_dir).
      - If a file was edited since, the module shows the difference and changes nothing.
  force:
    type: bool
    default: false
    description:
      - With O(state=absent), also revert files that were edited since.
      - With O(source=template), also replace files that no earlier run wrote. O(state=absent) restores them.
  source:
    type: str
    choices: [script, template, none]
    default: script
    description: Where the configuration comes from. V(none) means that HARP is configured by other means.
  script:
    type: str
    description:
      - The setup script, a path on the host or an HTTP(S) URL. With O(script_content), its name.
      - Required with O(source=script), unless O(state=absent).
  script_content:
    type: str
    description: The content of a setup script from the controller.
  sha256:
    type: str
    description: The required SHA-256 checksum of the script.
  allow_unverified:
    type: bool
    default: false
    description: Whether to run a script without O(sha256), as root.
  interpreter:
    type: list
    elements: str
    description: Interpreter of the script. By default C(bash) for C(.sh), C(python3) for C(.py), and otherwise the interpreter in its
      first line. With V([]) the script is run as a program.
  expected_text:
    type: list
    elements: str
    default: [setup successfully, Set up HARP successfully]
    description: Texts, one of which the output of the script must contain. An empty list disables this check.
  environment:
    type: dict
    default: {}
    description:
      - Environment variables of the script, in addition to E(TACO_ENI_INTERFACES), the names of the ENIs separated by commas.
      - Only a hash of it is stored on the host.
  timeout:
    type: int
    default: 600
    description: Time limit of the script in seconds.
  rendered:
    type: list
    elements: dict
    default: []
    description: The rendered files of a template. They are written unchanged; no other file is removed.
    suboptions:
      dest:
        type: str
        required: true
        description: Path of the file, relative to O(config_dir) unless it is absolute.
      content:
        type: str
        required: true
        description: Content of the file.
  config_dir:
    type: path
    default: /usr/local/tfabric/tools/config
    description: The folder of HARP's configuration.
  config_glob:
    type: str
    default: ztcp*.conf
    description: The names of the configuration files.
  node:
    type: dict
    description: The host as RV(taco.train.node_info#module:node) describes it. Needed for the manifest and to find the ENIs.
  eni_pattern:
    type: str
    description: Regular expression for the names of the ENIs, for ENIs without a PCI device.
  enis:
    type: list
    elements: str
    description: The names of the ENIs. When not set, determined from O(node).
  minimum_files:
    type: str
    default: "1"
    description:
      - Required number of configuration files that are not empty, from 1, or V(per_eni) for one for each ENI.
      - The vendor does not publish how many files its script writes.
  manifest:
    type: bool
    default: true
    description: Whether to write the host manifest, C(host-manifest.json) in O(state_dir). Needs O(node).
  container:
    type: str
    description: The training container, whose processes count as running work. When not set, only processes on the GPUs do.
  interrupt_running_work:
    type: bool
    default: false
    description:
      - Whether the configuration may be changed while processes run on the GPUs or in O(container).
      - Otherwise the task fails and lists the processes before it changes a configuration file. In check mode it warns.
  state_dir:
    type: path
    default: /var/lib/taco-train
    description: Folder on the host for the state that outlives a run.
seealso:
  - module: taco.train.node_info
  - module: taco.train.eni_check
"""

EXAMPLES = r"""
- name: Gather the state of the host
  taco.train.node_info:
  register: observed

- name: Run the vendor's setup script
  taco.train.harp_config:
    script: http://mirrors.tencent.com/install/GPU/taco/harp_setup.sh
    # The output of sha256sum for the script that you have read.
    sha256: b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c
    node: "{{ observed.node }}"

- name: Write a configuration in your own format
  taco.train.harp_config:
    source: template
    rendered:
      - dest: ztcp0.conf
        content: "{{ lookup('ansible.builtin.template', 'ztcp.conf.j2') }}"
    node: "{{ observed.node }}"

- name: Restore the original configuration
  taco.train.harp_config:
    state: absent
"""

RETURN = r"""
files:
  description: The existing configuration files that are not empty.
  returned: success
  type: list
  elements: dict
  sample: [{path: /usr/local/tfabric/tools/config/ztcp0.conf, size: 120}]
ran:
  description: Whether the script ran, or in check mode would run.
  returned: success
  type: bool
  sample: true
reason:
  description: Why the script ran, or that the files differed.
  returned: success
  type: str
  sample: the ENIs changed from 0000:00:06.0 to 0000:00:06.0, 0000:00:07.0
sha256:
  description: Checksum of the script of the last successful run.
  returned: success with O(source=script)
  type: str
  sample: d5b549d65f45ec5f13a37cb86eb0538bffb2db3aeafd044c496768d455000e93
enis:
  description: Names of the ENIs that the configuration is for.
  returned: success
  type: list
  elements: str
  sample: [eth1, eth2]
manifest:
  description: Path of the host manifest.
  returned: when there is one
  type: str
  sample: /var/lib/taco-train/host-manifest.json
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._files.download import open_url
from ansible_collections.taco.train.plugins.module_utils._harp.configuration import ERRORS, configure
from ansible_collections.taco.train.plugins.module_utils._harp.options import OPTIONS
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure


def main():
    module = AnsibleModule(supports_check_mode=True, **OPTIONS)
    try:
        result = configure(module.params, module.check_mode, module.warn, open_url)
    except ERRORS as error:
        module.fail_json(msg=failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

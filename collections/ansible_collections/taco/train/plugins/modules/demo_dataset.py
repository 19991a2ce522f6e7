#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: demo_dataset
short_description: Download the data set of the TTF demos
version_added: 1.0.0
description:
  - Runs C(download_dataset.sh) of the demos of TTF, the vendor's TensorFlow, in the training container, unless it has succeeded there
    before.
  - The SHA-256 of the script is verified before it runs. The data is not verified, because the vendor publishes neither its addresses nor
    its checksums.
  - Writes C(.taco-train-dataset) beside the script after it has succeeded. The data stays in the container and is removed with it.
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
  exec_prefix:
    description: Prefix that runs a command in the training container, as a list of arguments. Empty means no container.
    type: list
    elements: str
    default: []
  demo_dir:
    description: The folder of the demos in the container.
    type: str
    default: /opt/dynamic-embedding-demo
  checksum:
    description: The required SHA-256 of the script.
    type: str
  allow_unverified:
    description: Whether a script without O(checksum) may run.
    type: bool
    default: false
  timeout:
    description: Time limit of the script in seconds.
    type: int
    default: 1800
seealso:
  - module: taco.train.benchmark
"""

EXAMPLES = r"""
- name: Download the data set of the TTF demos
  taco.train.demo_dataset:
    exec_prefix: [docker, exec, taco-train]
    checksum: 5f2b1c0a9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b3a2f1e0d9c8b7a6f5e4d3c2b
"""

RETURN = r"""
checksum:
  description: The SHA-256 of the script. Null in check mode when there is no script.
  returned: success
  type: str
  sample: 5f2b1c0a9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c4b3a2f1e0d9c8b7a6f5e4d3c2b
msg:
  description: Whether the data set existed, or the command that ran.
  returned: always
  type: str
  sample: the data set is there
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._acceleration.demo_dataset import (
    FOLDER,
    DatasetError,
    download,
)
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure


def main():
    module = AnsibleModule(
        argument_spec=dict(
            exec_prefix=dict(type="list", elements="str", default=[]),
            demo_dir=dict(type="str", default=FOLDER),
            checksum=dict(type="str"),
            allow_unverified=dict(type="bool", default=False),
            timeout=dict(type="int", default=1800),
        ),
        supports_check_mode=True,
    )
    try:
        module.exit_json(**download(module.params, module.check_mode))
    except (DatasetError, OSError) as error:
        module.fail_json(msg=failure(error))


if __name__ == "__main__":
    main()

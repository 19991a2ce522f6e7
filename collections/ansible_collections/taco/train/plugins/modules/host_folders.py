#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: host_folders
short_description: Record missing folders before they are created, and remove them again
version_added: 1.0.0
description:
  - The modules of this collection record in O(state_dir) which folders do not exist before they create them. This module does the same for
    folders that another program creates, such as a container engine for its mounts.
  - The record is saved before the first folder is created, and a run after a killed run keeps it.
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
  state:
    type: str
    choices: [recorded, cleared, absent]
    default: recorded
    description:
      - V(recorded) records the missing folders among O(paths) and their parents.
      - V(cleared) removes what has a name of O(names) from each of O(paths), and the folder itself if nothing else is in it.
      - V(absent) removes the recorded folders that are empty, O(state_dir) if runs created it and only empty folders are left in it, and
        the record.
  paths:
    type: list
    elements: path
    default: []
    description: The folders, with O(state=recorded) and O(state=cleared).
  names:
    type: str
    version_added: 1.1.0
    default: ""
    description: With O(state=cleared), a regular expression that matches the whole names of files and folders of this collection.
  state_dir:
    type: path
    default: /var/lib/taco-train
    description: Folder on the host for the state that outlives a run.
"""

EXAMPLES = r"""
- name: Record the folder before the vendor's installer creates it
  taco.train.host_folders:
    paths: [/usr/local/tfabric/tools/config]

- name: Remove the folders that did not exist before the first run
  taco.train.host_folders:
    state: absent
"""

RETURN = r"""
removed:
  description: The removed folders, or in check mode the folders to remove. With O(state=cleared) also the removed files.
  returned: success
  type: list
  elements: str
  sample: [/usr/local/tfabric/tools/config, /var/lib/taco-train]
"""

import os
import re

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError, remove_any
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import CreatedFolders, FoldersError
from ansible_collections.taco.train.plugins.module_utils._files.state_removal import removable, remove
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure


def clear(folder, names, check_mode):
    """Remove what has one of our names from a folder, and the folder when nothing else is in it; return what is removed."""
    if not os.path.isdir(folder):
        return []
    there = os.listdir(folder)
    removed = [os.path.join(folder, name) for name in sorted(there) if re.fullmatch(names, name)]
    for path in [] if check_mode else removed:
        remove_any(path)
    if len(removed) < len(there) or os.path.islink(folder):
        return removed  # a link, such as one to a larger disk, is somebody's
    if not check_mode:
        os.rmdir(folder)
    return [*removed, folder]


def run(params, check_mode):
    """Record folders, or remove them, and return the module's result. A record alone is no change of the host."""
    folders = CreatedFolders(params["state_dir"])
    if params["state"] == "recorded":
        if not check_mode:
            folders.record(params["paths"])
        return dict(changed=False, removed=[])
    if params["state"] == "cleared":
        removed = [path for folder in params["paths"] for path in clear(folder, params["names"], check_mode)]
        return dict(changed=bool(removed), removed=removed)
    removed = removable(folders) if check_mode else remove(folders)
    return dict(changed=bool(removed), removed=removed)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            state=dict(type="str", choices=["recorded", "cleared", "absent"], default="recorded"),
            paths=dict(type="list", elements="path", default=[]),
            names=dict(type="str", default=""),
            state_dir=dict(type="path", default="/var/lib/taco-train"),
        ),
        supports_check_mode=True,
    )
    try:
        result = run(module.params, module.check_mode)
    except (FoldersError, FileError, OSError) as error:
        module.fail_json(msg=failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

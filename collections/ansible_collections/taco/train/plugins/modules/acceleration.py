#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: acceleration
short_description: Prepare a worker for runs of arms without HARP's plugin or with upstream Horovod
version_added: 1.0.0
description:
  - Creates two folders, each once. The ranks of a run use them through variables that RV(prepended) has, so nothing changes for other
    programs of the worker, and nothing has to be restored after a run.
  - A folder with an empty C(libnccl-net.so) at the front of E(LD_LIBRARY_PATH) disables HARP for the ranks. The dynamic linker ends its
    search there, and NCCL uses a network of its own. The plugin itself is not changed.
  - Upstream Horovod is built once, in a separate folder, and verified with an import. At the front of E(PYTHONPATH) it replaces the
    Horovod of the image.
notes:
  - M(taco.train.benchmark) sets these variables for each rank on its worker, and NCCL's log must show the network of the arm.
  - A library path in NCCL itself (C(RPATH)) has precedence over E(LD_LIBRARY_PATH). A run whose log then shows another network than
    its arm promises fails.
requirements:
  - Python 3.6 or newer in the worker, with pip and what Horovod is built with for O(horovod=upstream)
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
    details: The worker must run. The success of a build is not predicted.
  diff_mode:
    support: full
    details: In words.
  platform:
    platforms: linux
options:
  state:
    type: str
    choices: [present, absent]
    default: present
    description:
      - V(present) creates what O(plugin) and O(horovod) need.
      - V(absent) removes the folder with the empty library, and the Horovod builds with their logs.
  container:
    type: str
    default: ""
    description: The container to work in. Empty if the task itself runs in the worker, such as in a pod.
  engine_command:
    type: list
    elements: str
    default: [docker]
    description: The command of the container engine.
  plugin:
    type: str
    choices: ['off', keep]
    default: keep
    description:
      - V(off) creates the folder with the empty library, C(without-plugin) below O(state_dir). A folder of this name that was not made by
        this module is refused.
      - V(keep) does not need it.
  plugin_path:
    type: path
    default: /usr/lib/x86_64-linux-gnu/libnccl-net.so
    description:
      - The path of HARP's plugin in the worker, which is observed.
      - A plugin that the commands of the vendor's documents have renamed is found by their names and folders.
  horovod:
    type: str
    choices: [image, upstream]
    default: image
    description:
      - V(image) is the installation in the image, such as LightCC.
      - V(upstream) is the published O(horovod_version), which is built if necessary. A build takes some minutes.
  horovod_version:
    type: str
    default: 0.21.3
    description: The version of upstream Horovod.
  horovod_build_env:
    type: dict
    default:
      HOROVOD_WITH_MPI: "1"
      HOROVOD_GPU_OPERATIONS: NCCL
      HOROVOD_WITH_TENSORFLOW: "1"
      HOROVOD_NCCL_LINK: SHARED
    description:
      - Variables to build Horovod with. The default is that of the documents; for an image with PyTorch replace
        E(HOROVOD_WITH_TENSORFLOW) by E(HOROVOD_WITH_PYTORCH).
  horovod_source:
    type: str
    description:
      - The package for pip, instead of C(horovod==) and the version. An absolute path is a wheel or source archive in the worker; anything
        else is a requirement for the index.
      - Its version must be O(horovod_version).
  pip_args:
    type: list
    elements: str
    default: []
    description: Additional arguments for pip, such as another index.
  prefix_dir:
    type: path
    description:
      - Folder in the worker for the built Horovods. The default is C(horovod) below O(state_dir).
      - If it is a mount from the host, recreated containers of the same image use the existing builds.
  build_timeout:
    type: int
    default: 3600
    description: Time limit of a build in seconds.
  python:
    type: str
    default: python3
    description: The Python interpreter of the training in the worker.
  requires:
    type: list
    elements: str
    default: []
    description:
      - Files, folders and programs that a run needs in the worker, each an absolute path or the name of a program in E(PATH).
      - RV(requires) has the existing ones. A missing one is not a failure of this module.
  interrupt_running_work:
    type: bool
    default: false
    description: With O(state=absent), whether folders may be removed that running processes have in their environment.
  state_dir:
    type: path
    default: /var/lib/taco-train
    description: Folder in the worker for what outlives a run. Its path must not have colons, semicolons, dollar signs or white space.
"""

EXAMPLES = r"""
- name: Prepare the container for runs over kernel TCP and for runs with upstream Horovod
  taco.train.acceleration:
    container: taco-train
    plugin: 'off'
    horovod: upstream
  register: worker

- name: Run the benchmark over kernel TCP with upstream Horovod
  taco.train.benchmark:
    arm: horovod
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    workers: "{{ dict(ansible_play_hosts | zip(ansible_play_hosts | map('extract', hostvars, 'worker'))) }}"
    run_dir: results/today
  run_once: true

- name: Remove both folders
  taco.train.acceleration:
    container: taco-train
    state: absent
"""

RETURN = r"""
before:
  description: The previous state of the worker.
  returned: success
  type: dict
  contains:
    plugin:
      description: HARP's plugin for NCCL.
      returned: always
      type: dict
      contains:
        state: {description: "V(present), V(renamed) or V(missing).", type: str, returned: always}
        path: {description: Its path. Null if it is missing., type: str, returned: always}
        problem: {description: Why NCCL does not load it and how to correct this. Null if it is present., type: str, returned: always}
    packages:
      description: >-
        Versions of what is installed in the worker's Python of LightCC (C(light-horovod) or C(tencent-lightcc)), Horovod, the
        frameworks and pip.
      returned: always
      type: dict
    python:
      description: The worker's Python.
      returned: always
      type: dict
      contains:
        version: {description: Its version., type: str, returned: always}
        executable: {description: Its path., type: str, returned: always}
    builds: {description: The folders of built Horovods., type: list, elements: str, returned: always}
    empty_library: {description: The folder with the empty library. Null without it., type: str, returned: always}
    container:
      description: The container. All of it is null or empty without one.
      returned: always
      type: dict
      contains:
        id: {description: Its id., type: str, returned: always}
        image: {description: The name of its image., type: str, returned: always}
        image_id: {description: The image's id., type: str, returned: always}
        repo_digests:
          description: The image's names by digest. Empty for one that was never pulled or pushed.
          type: list
          elements: str
          returned: always
after:
  description: The current state of the worker, or in check mode the predicted one, with the same values as RV(before).
  returned: success
  type: dict
requires:
  description: For each of O(requires) its path in the worker.
  returned: success
  type: dict
  sample: {/mnt/tensorflow_synthetic_benchmark.py: {path: null, sha256: null}}
prepended:
  description: The folders for runs with O(plugin) and O(horovod), each by the variable of the ranks that has it at its front.
  returned: success
  type: dict
  sample:
    LD_LIBRARY_PATH: /var/lib/taco-train/without-plugin
    PYTHONPATH: /var/lib/taco-train/horovod/horovod-0.21.3-0123456789ab
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._acceleration.remote import ensure
from ansible_collections.taco.train.plugins.module_utils._node.nccl_plugin import PATH
from ansible_collections.taco.train.plugins.module_utils._process.carried import ProgramError
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.place import PlaceError

BUILD_ENV = {
    "HOROVOD_WITH_MPI": "1",
    "HOROVOD_GPU_OPERATIONS": "NCCL",
    "HOROVOD_WITH_TENSORFLOW": "1",
    "HOROVOD_NCCL_LINK": "SHARED",
}


def main():
    module = AnsibleModule(
        argument_spec=dict(
            state=dict(type="str", choices=["present", "absent"], default="present"),
            container=dict(type="str", default=""),
            engine_command=dict(type="list", elements="str", default=["docker"]),
            plugin=dict(type="str", choices=["off", "keep"], default="keep"),
            plugin_path=dict(type="path", default=PATH),
            horovod=dict(type="str", choices=["image", "upstream"], default="image"),
            horovod_version=dict(type="str", default="0.21.3"),
            horovod_build_env=dict(type="dict", default=BUILD_ENV),
            horovod_source=dict(type="str"),
            pip_args=dict(type="list", elements="str", default=[]),
            prefix_dir=dict(type="path"),
            build_timeout=dict(type="int", default=3600),
            python=dict(type="str", default="python3"),
            requires=dict(type="list", elements="str", default=[]),
            interrupt_running_work=dict(type="bool", default=False),
            state_dir=dict(type="path", default="/var/lib/taco-train"),
        ),
        supports_check_mode=True,
    )
    try:
        result = ensure(module.params, module.check_mode)
    except (PlaceError, ProgramError, OSError, ValueError) as error:
        module.fail_json(msg=failure(error))
    for warning in result.pop("warnings"):
        module.warn(warning)
    errors = result.pop("errors")
    if errors:
        # With what could be created: an arm that needs no more can run.
        module.fail_json(msg="; ".join(errors), **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()

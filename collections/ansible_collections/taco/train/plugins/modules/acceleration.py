#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: acceleration
short_description: Activate one arm of a comparison on a worker, and restore the previous state
version_added: 1.0.0
description:
  - Switches HARP on and off, by the name of NCCL's network plugin, and lets a run use upstream Horovod instead of the image's. Nothing in
    the image is uninstalled or overwritten, so that every change can be reverted.
  - The plugin is renamed, never changed. Its original path is stored in the worker, in the file C(acceleration.json) in O(state_dir),
    until it is restored. A recreated container is not mistaken for its predecessor.
  - Upstream Horovod is built once, in a separate folder, and verified with an import. A run uses it through the variables in
    RV(environment).
notes:
  - If a library folder has the plugin as C(libnccl-net.so_bak), as in one of the vendor's documents, C(ldconfig) creates a link
    that activates the plugin again. Engines run C(ldconfig) when a container with GPUs starts. Call this module before each arm,
    and check in the log of the run which network NCCL uses.
  - The variables in RV(environment) go to every rank. They name the same folder on every worker when the workers have the
    same image and Python.
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
    choices: [present, restored, absent]
    default: present
    description:
      - V(present) activates O(plugin) and O(horovod).
      - V(restored) restores the original name of the plugin. Horovod builds stay; only runs with RV(environment) use them.
      - V(absent) is V(restored), and also removes the Horovod builds and their logs.
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
    choices: ['on', 'off', keep]
    default: keep
    description:
      - Whether NCCL finds HARP's network plugin. V(keep) does not change it.
      - A plugin that the commands of the vendor's documents have disabled is found by their names and folders.
  plugin_path:
    type: path
    default: /usr/lib/x86_64-linux-gnu/libnccl-net.so
    description: The original path of the plugin in the worker.
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
    description:
      - Whether the plugin or a Horovod may be changed while a launcher such as C(mpirun), a rank or a benchmark runs in the worker.
      - Otherwise the task waits a few seconds for them to end, and then fails and lists them. In check mode it warns.
      - Launchers are known by their names, ranks by the variables that launchers set, and a benchmark by its lock. In a shared process
        namespace, processes of other workers do not count.
  state_dir:
    type: path
    default: /var/lib/taco-train
    description: Folder in the worker for the state that outlives a run.
"""

EXAMPLES = r"""
- name: Activate Horovod over kernel TCP, without HARP
  taco.train.acceleration:
    container: taco-train
    plugin: 'off'

- name: Activate upstream Horovod with HARP
  taco.train.acceleration:
    container: taco-train
    plugin: 'on'
    horovod: upstream
  register: arm

- name: Run the benchmark
  taco.train.benchmark:
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    options: {env: "{{ arm.environment }}"}
    run_dir: results/today

- name: Revert the arm's changes on the worker
  taco.train.acceleration:
    container: taco-train
    state: restored
"""

RETURN = r"""
before:
  description: The previous state of the worker.
  returned: success
  type: dict
  contains:
    plugin:
      description: NCCL's network plugin.
      returned: always
      type: dict
      contains:
        state: {description: "V(on), V(off) when it has another name, or V(missing).", type: str, returned: always}
        path: {description: Its path. Null if it is missing., type: str, returned: always}
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
environment:
  description: Variables that a run of this arm needs on every worker. Empty for the image's own Horovod.
  returned: success
  type: dict
  sample: {PYTHONPATH: /var/lib/taco-train/horovod/horovod-0.21.3-0123456789ab}
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._acceleration.nccl_plugin import NAME
from ansible_collections.taco.train.plugins.module_utils._acceleration.remote import ensure
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
            state=dict(type="str", choices=["present", "restored", "absent"], default="present"),
            container=dict(type="str", default=""),
            engine_command=dict(type="list", elements="str", default=["docker"]),
            plugin=dict(type="str", choices=["on", "off", "keep"], default="keep"),
            plugin_path=dict(type="path", default="/usr/lib/x86_64-linux-gnu/" + NAME),
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
    module.exit_json(**result)


if __name__ == "__main__":
    main()

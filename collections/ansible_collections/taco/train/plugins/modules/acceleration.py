#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: acceleration
short_description: Activate one arm of a comparison on a worker, and restore the previous state
version_added: 1.0.0
description:
  - Switches HARP on and off, by the name of NCCL's network plugin, and lets a run use upstream's Horovod in place of the
    image's. Nothing of the image is uninstalled or overwritten, so that every switch can be made back.
  - The plugin is renamed, never changed. Where it was before the first change is kept in the worker, in the file
    C(acceleration.json) below O(state_dir), until it is there again. A container made anew is not taken for the one before it.
  - Upstream's Horovod is built once, into a folder of its own, and proved by importing it. A run uses it by the variables that
    are returned as RV(environment).
notes:
  - A library folder that has the plugin as C(libnccl-net.so_bak), one of the documents' ways, is one C(ldconfig) away from a
    link that switches it on again. Engines run that when a container with GPUs starts. Call this module before each arm,
    and have the run's log say which network NCCL uses.
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
    details: The worker must run. Whether a build would succeed is not known before it is done.
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
      - V(restored) puts the plugin back under the name that it had before the first change. Built Horovods stay. No run uses
        one unless it is given RV(environment).
      - V(absent) is V(restored), and removes the built Horovods and their logs.
  container:
    type: str
    default: ""
    description: The container to work in. Empty when the task itself runs in the worker, such as a pod.
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
      - Whether NCCL is to find HARP's network plugin. V(keep) leaves it as it is.
      - One that the documents' commands have switched off is found under the names and in the folders that they use.
  plugin_path:
    type: path
    default: /usr/lib/x86_64-linux-gnu/libnccl-net.so
    description: The plugin's own name in the worker.
  horovod:
    type: str
    choices: [image, upstream]
    default: image
    description:
      - V(image) is what the image has, such as LightCC.
      - V(upstream) is O(horovod_version) as its authors publish it, built when it has not been. That takes some minutes.
  horovod_version:
    type: str
    default: 0.21.3
    description: The version of upstream's Horovod.
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
      - What pip is to install in place of C(horovod==) and the version. An absolute path is a wheel or an archive of the sources
        that is in the worker; anything else is a requirement to find on the index.
      - Its version must be O(horovod_version).
  pip_args:
    type: list
    elements: str
    default: []
    description: More arguments for pip, such as an index near the hosts.
  prefix_dir:
    type: path
    description:
      - Folder in the worker for the built Horovods. The default is C(horovod) below O(state_dir).
      - When it is a mount from the host, containers made anew from the same image find what was built before.
  build_timeout:
    type: int
    default: 3600
    description: Seconds that a build may take.
  python:
    type: str
    default: python3
    description: The worker's Python, with which the training is run.
  requires:
    type: list
    elements: str
    default: []
    description:
      - Files, folders and programs that a run needs in the worker, each an absolute path or the name of a program in E(PATH).
      - What the worker has of them is returned as RV(requires). What it lacks is no failure of this module.
  interrupt_running_work:
    type: bool
    default: false
    description:
      - Whether the plugin or a Horovod may be changed while a launcher such as C(mpirun), a rank or a benchmark runs in the worker.
      - Otherwise the task waits a few seconds for them to end, and then fails and lists them. In check mode it warns.
      - Launchers are known by their names, ranks by the variables that launchers set, and a benchmark by its lock. In a namespace of
        processes that workers share, those of other workers don't count.
  state_dir:
    type: path
    default: /var/lib/taco-train
    description: Folder in the worker for what outlives a run.
"""

EXAMPLES = r"""
- name: Horovod over kernel TCP, without HARP
  taco.train.acceleration:
    container: taco-train
    plugin: 'off'

- name: Upstream's Horovod with HARP
  taco.train.acceleration:
    container: taco-train
    plugin: 'on'
    horovod: upstream
  register: arm

- name: Run it
  taco.train.benchmark:
    hosts: "{{ benchmark_hosts }}"
    env: "{{ arm.environment }}"
    run_dir: results/today

- name: Put back what was there
  taco.train.acceleration:
    container: taco-train
    state: restored
"""

RETURN = r"""
before:
  description: What the worker was like.
  returned: success
  type: dict
  contains:
    plugin:
      description: NCCL's network plugin.
      returned: always
      type: dict
      contains:
        state: {description: "V(on), V(off) when it has another name, or V(missing).", type: str, returned: always}
        path: {description: Where it is. Null when it is missing., type: str, returned: always}
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
        image: {description: The name that its image was given by., type: str, returned: always}
        image_id: {description: The image's id., type: str, returned: always}
        repo_digests:
          description: The image's names by digest. Empty for one that was never pulled or pushed.
          type: list
          elements: str
          returned: always
after:
  description: What the worker is like now, or would be like; the same values as in RV(before).
  returned: success
  type: dict
requires:
  description: For each of O(requires), where the worker has it.
  returned: success
  type: dict
  sample: {/mnt/tensorflow_synthetic_benchmark.py: {path: null, sha256: null}}
environment:
  description: Variables that a run in this arm has to be given on every worker. Empty for the image's own Horovod.
  returned: success
  type: dict
  sample: {PYTHONPATH: /var/lib/taco-train/horovod/horovod-0.21.3-0123456789ab}
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._acceleration import (
    decision,
    horovod_build,
    horovod_prefix,
    nccl_plugin,
    observation,
    processes,
    worker,
)
from ansible_collections.taco.train.plugins.module_utils._files import atomic, created_folders, move
from ansible_collections.taco.train.plugins.module_utils._process import running_work, supervised, timed
from ansible_collections.taco.train.plugins.module_utils._process.carried import ProgramError, answer, program
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.place import COMMAND_SECONDS, Place, PlaceError

# Each after those that it imports.
WORKER_MODULES = [
    timed,
    running_work,
    processes,
    atomic,
    created_folders,
    supervised,
    move,
    nccl_plugin,
    horovod_prefix,
    horovod_build,
    decision,
    observation,
    worker,
]
BUILD_ENV = {
    "HOROVOD_WITH_MPI": "1",
    "HOROVOD_GPU_OPERATIONS": "NCCL",
    "HOROVOD_WITH_TENSORFLOW": "1",
    "HOROVOD_NCCL_LINK": "SHARED",
}
# What a build does before and after pip, within its own limits.
BESIDE_PIP_SECONDS = 600


def build_environment(values):
    """Return variables as text. YAML's true and false are 1 and 0."""
    return {
        str(name): str(int(value) if isinstance(value, bool) else value)
        for name, value in values.items()
        if value is not None
    }


def worker_options(params, container, check_mode):
    """Return what the worker has to know."""
    chosen = dict(params)
    chosen["prefix_dir"] = params["prefix_dir"] or os.path.join(params["state_dir"], "horovod")
    chosen["horovod_build_env"] = build_environment(params["horovod_build_env"])
    return dict(chosen, container_id=container["id"], image_id=container["image_id"], check_mode=check_mode)


def ask(place, options):
    """Run the worker's part and return its answer."""
    seconds = COMMAND_SECONDS
    if options["horovod"] == "upstream":
        seconds += options["build_timeout"] + BESIDE_PIP_SECONDS
    done = place.program(options["python"], program(WORKER_MODULES, options), seconds)
    said = " ".join(done.stderr.split())[-500:]
    # 126 and 127 are the engine's: there is no such program in the container.
    if done.status in (126, 127) or (done.status is None and not place.container):
        raise PlaceError(f"{place} has no {options['python']} to run ({said}): set python to the worker's Python 3")
    if done.status != 0:
        raise PlaceError(f"the work in {place} ended with status {done.status}: {said}")
    return answer(done.stdout)


def ensure(params, check_mode):
    """Return the result, or raise why there is none."""
    place = Place(params["container"], params["engine_command"])
    container = place.identify()
    result = ask(place, worker_options(params, container, check_mode))
    if "error" in result:
        raise PlaceError(f"{place}: {result['error']}")
    diff = {key: decision.in_words(result[key]) for key in ("before", "after")}
    for key in ("before", "after"):
        result[key]["container"] = container
    return dict(result, diff=diff)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            state=dict(type="str", choices=["present", "restored", "absent"], default="present"),
            container=dict(type="str", default=""),
            engine_command=dict(type="list", elements="str", default=["docker"]),
            plugin=dict(type="str", choices=["on", "off", "keep"], default="keep"),
            plugin_path=dict(type="path", default="/usr/lib/x86_64-linux-gnu/" + nccl_plugin.NAME),
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

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: training_container
short_description: Run a training container with the options of the TACO documents
version_added: 1.0.0
description:
  - Starts the container of a profile, V(ttf), V(lightcc) or V(harp), with the options that the vendor's documents give to C(docker run).
    Instead of interactive (C(-it --rm)) it runs in the background with an init process, and is not removed when it stops.
  - An option that is set replaces the value of the profile.
  - Refuses to start a container in which HARP would abort without its configuration.
  - A container that is as required is not changed. A container that differs is recreated.
  - The label C(taco.train.options) marks the containers of this module; its value is a checksum of their options and an id. A container
    of this name without the label, or with the label of its own image (C(docker commit) copies labels), is somebody else's. It is used if
    it is as required. Otherwise the module fails, unless O(take_over) is set.
requirements:
  - The collection community.docker on the controller
  - requests in the Python of the host
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  become:
    description: Is usable alongside C(become).
    support: full
  check_mode:
    support: full
    details: A missing configuration of HARP is a warning, because the role that configures HARP did not run. A container that can't be
      started before the engine is installed, started or given its Python packages is reported as changed.
  diff_mode:
    support: full
options:
  name:
    type: str
    required: true
    description: Name of the container.
  image:
    type: str
    description: The image with a tag or digest. Required with O(state=started).
  profile:
    type: str
    choices: [harp, lightcc, ttf]
    default: harp
    description: The options of C(docker run) in the vendor's documents to start with.
  state:
    type: str
    choices: [started, absent]
    default: started
    description: Whether the container runs or is removed.
  command:
    type: list
    elements: str
    description: The command in the container. C(sleep infinity) when not set.
  gpus:
    type: raw
    description: V(all), V(none), or a list of indexes or UUIDs. V(all) when not set.
  shm_size:
    type: str
    description: Size of C(/dev/shm), such as V(32g).
  ulimits:
    type: list
    elements: str
    description: Limits in the format of C(docker run), such as V(memlock=-1). An empty list means none.
  mounts:
    type: list
    elements: str
    description: Mounts instead of the profile's, as C(source:target) or C(source:target:options).
  mounts_extra:
    type: list
    elements: str
    default: []
    description: Additional mounts.
  privileged:
    type: bool
    description: Whether the container is privileged.
  network_mode:
    type: str
    description: The container's network, such as V(host).
  environment:
    type: dict
    default: {}
    description: Environment variables of the container.
  restart_policy:
    type: str
    choices: ["no", on-failure, always, unless-stopped]
    description: Restart policy of the container. V(unless-stopped) when not set.
  pull:
    type: str
    choices: [missing, always, never]
    default: missing
    description: When to pull the image.
  harp_config_dir:
    type: str
    default: /usr/local/tfabric/tools/config
    description: The folder of HARP's configuration, for error messages.
  harp_config_files:
    type: list
    elements: raw
    description: HARP's configuration files on the host, as M(taco.train.node_info) and M(taco.train.harp_config) return them.
  require_harp:
    type: bool
    description: Whether to refuse a start without O(harp_config_files). V(true) for O(profile=harp) when not set.
  state_dir:
    type: str
    default: /var/lib/taco-train
    description: Folder on the host for the state that outlives a run. Holds the record of the folders that the engine creates for the
      mounts.
  interrupt_running_work:
    type: bool
    default: false
    description:
      - Whether a container may be recreated, restarted or removed while processes run in it, besides those that only keep it running.
      - Otherwise the task fails and lists the processes. In check mode it warns.
  may_stay:
    type: bool
    default: false
    description:
      - Whether a container that cannot be removed, because the engine cannot be reached or the container is somebody else's, is only a
        warning. RV(left) has the reason.
  take_over:
    type: bool
    default: false
    description:
      - Whether a container with the name O(name) that this module did not make may be changed, recreated or removed.
seealso:
  - module: taco.train.running_work
  - module: taco.train.harp_config
  - module: community.docker.docker_container
"""

EXAMPLES = r"""
- name: Gather the state of the host
  taco.train.node_info:
  register: observed

- name: Run the training container
  taco.train.training_container:
    name: taco-train
    image: ccr.ccs.tencentyun.com/qcloud/taco-training:cu112-cudnn81-py3-0.3.2
    profile: harp
    shm_size: 32g
    ulimits: [memlock=-1, stack=67108864]
    harp_config_files: "{{ observed.node.harp.config_files }}"

- name: Remove the training container
  taco.train.training_container:
    name: taco-train
    state: absent
"""

RETURN = r"""
reason:
  description: The container that was there, and what is required.
  returned: success
  type: str
  sample: there is no container taco-train; state is started
interrupts:
  description: What the change interrupts.
  returned: success
  type: list
  elements: str
  sample: [container taco-train with its processes]
container:
  description: The container as the engine describes it.
  returned: success with O(state=started), if there is one
  type: dict
  sample: {Name: /taco-train}
left:
  description: Why the container is still there.
  returned: when O(may_stay=true) and the container can't be removed
  type: str
  sample: "the container taco-train can't be removed, because the Docker Engine can't be reached"
docker_run:
  description: The command that would start the same container by hand.
  returned: with O(state=started)
  type: list
  elements: str
  sample: [docker, run, --detach, --name, taco-train, taco-lab/training:1, sleep, infinity]
"""

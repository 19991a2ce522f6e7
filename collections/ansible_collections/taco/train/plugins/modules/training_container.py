#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: training_container
short_description: Run a training container as the TACO documents start it
version_added: 1.0.0
description:
  - Starts the container of a profile, V(ttf), V(lightcc) or V(harp), with the options that the vendor's documents give to C(docker run).
    Instead of interactive (C(-it --rm)) it runs detached, with an init process, and is kept.
  - An option that is set replaces the profile's value; one that isn't leaves it alone.
  - Refuses to start a container in which HARP would abort for want of its configuration.
  - A converged container is not touched. One that differs is made anew.
  - The label C(taco.train.options) of the container is a checksum of what it was made from, by which M(taco.train.converged) can tell
    later that nothing has changed. A container that lacks it, or has another one, is not made anew for that. The label
    is taken at its word, so give it to no container of your own.
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
    details: What is missing for HARP is a warning then, because the role that configures HARP did not really run.
  diff_mode:
    support: full
options:
  name:
    type: str
    required: true
    description: Name of the container.
  image:
    type: str
    description: The image, by tag or by digest. Required with O(state=started).
  profile:
    type: str
    choices: [harp, lightcc, ttf]
    default: harp
    description: Which of the documents' C(docker run) lines to start from.
  state:
    type: str
    choices: [started, absent]
    default: started
    description: Whether the container runs or is gone.
  command:
    type: list
    elements: str
    description: What runs in the container. C(sleep infinity) when not set.
  gpus:
    type: raw
    description: V(all), V(none), or a list of indexes or UUIDs. V(all) when not set.
  shm_size:
    type: str
    description: Size of C(/dev/shm), such as V(32g).
  ulimits:
    type: list
    elements: str
    description: Limits as C(docker run) takes them, such as V(memlock=-1). An empty list means none.
  mounts:
    type: list
    elements: str
    description: Mounts in place of the profile's, as C(source:target) or C(source:target:options).
  mounts_extra:
    type: list
    elements: str
    default: []
    description: Mounts in addition.
  privileged:
    type: bool
    description: Whether the container has all privileges.
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
    description: When the engine starts the container again. V(unless-stopped) when not set.
  pull:
    type: str
    choices: [missing, always, never]
    default: missing
    description: When to pull the image.
  harp_config_dir:
    type: str
    default: /usr/local/tfabric/tools/config
    description: Where HARP looks for its configuration, for the message of a refusal.
  harp_config_files:
    type: list
    elements: raw
    default: []
    description: HARP's configuration files on the host, as M(taco.train.node_info) and M(taco.train.harp_config) return them.
  require_harp:
    type: bool
    description: Whether to refuse a start without O(harp_config_files). V(true) for O(profile=harp) when not set.
  state_dir:
    type: str
    default: /var/lib/taco-train
    description: Folder on the host for what outlives a run. Holds the record of the folders that the engine creates for the mounts.
  node:
    type: dict
    description:
      - The host, as M(taco.train.node_info) returned it. It tells whether a container runs that could be interrupted, and whether the
        engine can be asked at all.
      - In check mode a container that can't be started before the engine is installed, started or given its Python packages is
        reported as changed.
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
      - Whether a container that can't be removed, since the engine of O(node) is stopped, is no failure. RV(left) has the reason then.
seealso:
  - module: taco.train.running_work
  - module: taco.train.harp_config
  - module: community.docker.docker_container
"""

EXAMPLES = r"""
- name: Run the training container
  taco.train.training_container:
    name: taco-train
    image: ccr.ccs.tencentyun.com/qcloud/taco-training:cu112-cudnn81-py3-0.3.2
    profile: harp
    shm_size: 32g
    ulimits: [memlock=-1, stack=67108864]
    harp_config_files: "{{ taco_node.harp.config_files }}"

- name: Remove it
  taco.train.training_container:
    name: taco-train
    state: absent
"""

RETURN = r"""
container:
  description: The container as the engine describes it.
  returned: success with O(state=started), not in check mode
  type: dict
  sample: {Name: /taco-train}
left:
  description: Why the container is still there.
  returned: when O(may_stay=true) and the container can't be removed
  type: str
  sample: "the container taco-train is still on the disk and can't be removed, because the Docker Engine is stopped"
docker_run:
  description: The command that would start the same container by hand.
  returned: with O(state=started)
  type: list
  elements: str
  sample: [docker, run, --detach, --name, taco-train, taco-lab/training:1, sleep, infinity]
"""

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: counters
short_description: Read the counters of a host before and after a run
version_added: 1.0.0
description:
  - Returns counters of interfaces, TCP, CPUs, control groups and GPUs. M(taco.train.witnesses) compares those before and after a run.
  - With O(state=started) it also starts a process that samples the TCP connections and the clocks of the GPUs during the run. The process
    has low priority and takes a sample every second at first, every 5 seconds later. O(state=ended) stops it and returns the last sample.
  - A value that can't be read is absent. Missing tools are no error.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
    details: Starts and stops no process.
  diff_mode:
    support: none
  platform:
    platforms: posix
options:
  state:
    description: V(started) before the run, V(ended) after it.
    type: str
    choices: [started, ended]
    required: true
  seconds:
    description: The longest time of the sampling process. It ends earlier when O(state=ended) is used.
    type: int
    default: 3600
  container:
    description: The training container, whose CPU quota counts. When not set, the quota of the task itself counts.
    type: str
  engine_command:
    description: The command of the container engine.
    type: list
    elements: str
    default: [docker]
  state_dir:
    description: Folder on the host for the state that outlives a run.
    type: path
    default: /var/lib/taco-train
seealso:
  - module: taco.train.witnesses
"""

EXAMPLES = r"""
- name: Read the counters of the hosts before the run
  taco.train.counters:
    state: started

- name: Read the counters of the hosts after the run
  taco.train.counters:
    state: ended
"""

RETURN = r"""
counters:
  description: The counters at this moment. What can't be read is absent.
  returned: always
  type: dict
  contains:
    boot_id:
      description: The boot of the host. Counters of different boots can't be compared.
      type: str
    namespace:
      description: The network namespace to which the interfaces belong.
      type: str
    init_started:
      description: When process 1 started, in ticks since the boot. It tells a pod from one that replaces it under the same name.
      type: int
    uptime:
      description: Seconds since the boot.
      type: float
    nics:
      description: For each interface its bytes, drops and errors.
      type: dict
      sample: {eth0: {rx_bytes: 1000, tx_bytes: 2000, rx_dropped: 0, tx_dropped: 0, rx_errors: 0, tx_errors: 0}}
    tcp:
      description: The segments that TCP sent and retransmitted.
      type: dict
      sample: {OutSegs: 1000, RetransSegs: 1}
    cpu:
      description: The time of all CPUs in ticks, with the part that the hypervisor took.
      type: dict
      sample: {total: 100000, idle: 90000, steal: 0}
    throttling:
      description: How often and for how long a CPU quota stopped the container, or the task without one.
      type: dict
      sample: {periods: 0, microseconds: 0}
    gpus:
      description: For each GPU its clocks, throttle reasons and memory errors, and whether it is idle. V(null) if C(nvidia-smi) fails.
      type: dict
    xids:
      description: The errors of GPUs in the kernel's log, V(null) where it can't be read.
      type: list
      elements: dict
samples:
  description: Of the sampling process, for each peer the bytes, retransmissions and busy time of its connections, and the GPUs under load.
  returned: with O(state=ended)
  type: dict
  sample:
    peers: [{peer: 10.0.0.2, connections: 4, sent: 1000, received: 1000, retransmits: 0, seconds: 5.0, busy: 1.2}]
    gpus: {}
"""

import os
import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._node import connections, counters
from ansible_collections.taco.train.plugins.module_utils._process import sampler
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.timed import run_timed

# The rollback removes it.
FOLDER = "logs"
COMMAND_SECONDS = 10
# nvidia-smi takes longer than ss, so that not every sample has it.
SAMPLES_BETWEEN_GPUS = 3


class Sampling:
    """Everything that the samples of a run show up to now."""

    def __init__(self):
        self.peers = connections.Peers(sockets())
        self.gpus = counters.Range()
        self.count = 0

    def __call__(self):
        self.peers.add(time.monotonic(), sockets())
        if self.count % SAMPLES_BETWEEN_GPUS == 0:
            self.gpus.add(run_timed(counters.COMMAND, counters.SECONDS).stdout)
        self.count += 1
        return {"peers": self.peers.totals(), "gpus": self.gpus.found}


def sockets():
    return run_timed(connections.COMMAND, connections.SECONDS).stdout


def process_of(container, engine_command):
    """The first process of the container, or this one."""
    if not container:
        return "self"
    argv = [*engine_command, "inspect", "--type", "container", "--format", "{{.State.Pid}}", container]
    found = run_timed(argv, COMMAND_SECONDS).stdout.strip()
    return found if found.isdecimal() and found != "0" else "self"


def snapshot(options):
    """All counters at this moment."""
    found = counters.snapshot("/", process_of(options["container"], options["engine_command"]))
    listed = run_timed(counters.COMMAND, counters.SECONDS)
    found["gpus"] = counters.parse(listed.stdout) if listed.status == 0 else None
    log = run_timed(["dmesg"], COMMAND_SECONDS) if found["gpus"] else None
    found["xids"] = counters.xids(log.stdout) if log and log.status == 0 else None
    return found


def main():
    module = AnsibleModule(
        argument_spec=dict(
            state=dict(type="str", choices=["started", "ended"], required=True),
            seconds=dict(type="int", default=3600),
            container=dict(type="str"),
            engine_command=dict(type="list", elements="str", default=["docker"]),
            state_dir=dict(type="path", default="/var/lib/taco-train"),
        ),
        supports_check_mode=True,
    )
    options = module.params
    folder = os.path.join(options["state_dir"], FOLDER)
    result = {"changed": False}
    if options["state"] == "ended":
        result["samples"] = {} if module.check_mode else sampler.stop(folder)
    result["counters"] = snapshot(options)
    if options["state"] == "started" and not module.check_mode:
        try:
            sampler.start(folder, Sampling(), options["seconds"])
        except OSError as error:
            # A run without samples is better than none.
            module.warn("The connections of the run are not sampled: " + failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

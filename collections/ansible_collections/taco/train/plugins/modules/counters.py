#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: counters
short_description: Read the counters of hosts before and after a run, and add the differences to its record
version_added: 1.0.0
description:
  - With O(state=started) and O(state=ended) it returns counters of interfaces, TCP, CPUs, control groups and GPUs.
  - With O(state=started) it also starts a process that samples the TCP connections and the clocks of the GPUs during the run. The process
    has low priority and takes a sample every second at first, every 5 seconds later. O(state=ended) stops it and returns the last sample.
  - A value that can't be read is absent. Missing tools are no error.
  - With O(state=compared) it adds the differences of the counters before and after runs of one arm to the records of the runs. This state
    works on the controller only.
  - It compares the bytes that the model must send with those that crossed the interfaces. A run that used another network than that of
    its arm is recorded as failed, with the reason.
  - It names the hosts whose counters differ from those of the others. With fewer than 5 hosts it names none.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
    details: Starts and stops no process, and leaves the records as they are.
  diff_mode:
    support: none
  platform:
    platforms: posix
options:
  state:
    description: V(started) before the run, V(ended) after it, V(compared) with the results of both.
    type: str
    choices: [started, ended, compared]
    required: true
  seconds:
    description: The longest time of the sampling process. It ends earlier when O(state=ended) is used.
    type: int
    default: 3600
  start_seconds:
    description: With O(state=started), the seconds within which the run starts. The process ends 10 seconds after the last rank, or if
      none was seen in this time, also when O(state=ended) is never reached.
    version_added: 1.1.0
    type: int
    default: 120
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
  run_dir:
    version_added: 1.1.0
    description: The folder of the run, on the controller. Required with O(state=compared).
    type: str
  records:
    version_added: 1.1.0
    description: The ids of the records of the runs between the two reads of the counters. Required with O(state=compared).
    type: list
    elements: str
  before:
    version_added: 1.1.0
    description: For each host the result of O(state=started). Required with O(state=compared).
    type: dict
  after:
    version_added: 1.1.0
    description: For each host the result of O(state=ended). Required with O(state=compared).
    type: dict
  fail_on_bad_run:
    version_added: 1.1.0
    description: Whether the task fails when the runs used another network than that of their arm. With O(state=compared).
    type: bool
    default: true
seealso:
  - module: taco.train.benchmark
"""

EXAMPLES = r"""
- name: Read the counters of the hosts before the run
  taco.train.counters:
    state: started
  register: started

- name: Run the benchmark
  taco.train.benchmark:
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    run_dir: results/latest
  run_once: true
  register: benchmark

- name: Read the counters of the hosts after the run
  taco.train.counters:
    state: ended
  register: ended

- name: Add the differences to the record
  taco.train.counters:
    state: compared
    run_dir: results/latest
    records: ["{{ benchmark.record.id }}"]
    before: "{{ dict(ansible_play_hosts | zip(ansible_play_hosts | map('extract', hostvars, 'started'))) }}"
    after: "{{ dict(ansible_play_hosts | zip(ansible_play_hosts | map('extract', hostvars, 'ended'))) }}"
  run_once: true
"""

RETURN = r"""
counters:
  description: The counters at this moment. What can't be read is absent.
  returned: with O(state=started) or O(state=ended)
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
path:
  description: Whether the path of the arm is V(proved), V(contradicted) or V(unknown). V(null) without a record.
  returned: with O(state=compared)
  type: str
  sample: proved
arms:
  description: The arms whose records have the differences now.
  returned: with O(state=compared)
  type: list
  elements: str
  sample: [tcp]
run_dir:
  description: The folder of the run.
  returned: with a record
  type: str
msg:
  description: Why the runs failed.
  returned: when the path is contradicted
  type: str
"""

import os
import time

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._node import connections, counters
from ansible_collections.taco.train.plugins.module_utils._process import sampler
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.ranks import run_is_active
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


ARGUMENTS = {
    "state": {"type": "str", "choices": ["started", "ended", "compared"], "required": True},
    "seconds": {"type": "int", "default": 3600},
    "start_seconds": {"type": "int", "default": 120},
    "container": {"type": "str"},
    "engine_command": {"type": "list", "elements": "str", "default": ["docker"]},
    "state_dir": {"type": "path", "default": "/var/lib/taco-train"},
    "run_dir": {"type": "str"},
    "records": {"type": "list", "elements": "str"},
    "before": {"type": "dict"},
    "after": {"type": "dict"},
    "fail_on_bad_run": {"type": "bool", "default": True},
}
# The action works for this state, on the controller.
REQUIRED_IF = [("state", "compared", ["run_dir", "records", "before", "after"])]


def main():
    module = AnsibleModule(argument_spec=ARGUMENTS, required_if=REQUIRED_IF, supports_check_mode=True)
    options = module.params
    folder = os.path.join(options["state_dir"], FOLDER)
    result = {"changed": False}
    if options["state"] == "ended":
        result["samples"] = {} if module.check_mode else sampler.stop(folder)
    result["counters"] = snapshot(options)
    if options["state"] == "started" and not module.check_mode:
        try:
            run = sampler.Run(run_is_active, options["start_seconds"])
            sampler.start(folder, Sampling(), options["seconds"], run)
        except OSError as error:
            # A run without samples is better than none.
            module.warn("The connections of the run are not sampled: " + failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: benchmark
short_description: Run a benchmark over all hosts and record its result
version_added: 0.1.0
description:
  - Builds the command line of C(mpirun), runs it on the task's host, the launcher, under a time limit, reads the result out
    of what it prints and adds a record to C(records.jsonl) in the folder of the run.
  - The run is one module execution on the launcher. Where that is, the host's connection decides.
  - A run is good only when the command ends with status 0 in time and prints one total, over every rank that was started,
    on the device asked for. Anything else fails the task, after a record of it and its log were kept.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
attributes:
  action:
    support: full
  async:
    support: none
  bypass_host_loop:
    support: none
  check_mode:
    support: full
    details: Nothing is run or written. The command is shown.
  diff_mode:
    support: none
  platform:
    platforms: posix
options:
  workload:
    description: What to run. V(horovod_synthetic) is Horovod's synthetic benchmark.
    type: str
    choices: [horovod_synthetic]
    default: horovod_synthetic
  arm:
    description:
      - Which acceleration the environment asks for. V(taco) is LightCC and HARP, V(harp) is Horovod and HARP.
      - V(tcp) and V(horovod) need the workers' software changed. This version refuses them.
    type: str
    choices: [taco, harp, tcp, horovod]
    default: taco
  hosts:
    description: The hosts of the ranks, each a mapping of C(name), by which the launcher's ssh knows it, and C(slots).
    type: list
    elements: dict
    required: true
  exec_prefix:
    description:
      - Words before the command that bring it into a container, such as V([docker, exec, taco-train]).
      - The command is then also limited inside by C(timeout), since ending C(docker exec) does not end what it started.
    type: list
    elements: str
    default: []
  mpirun:
    description: Path of C(mpirun) on the launcher.
    type: str
    default: /usr/local/openmpi/bin/mpirun
  interface:
    description: The network interface for MPI's own traffic.
    type: str
    default: eth0
  script:
    description: Path of the benchmark script on every host.
    type: str
    default: /mnt/tensorflow_synthetic_benchmark.py
  model:
    description: The model, by the name that the script knows.
    type: str
    default: ResNet50
  batch_size:
    description: Images of a batch on each device.
    type: int
    default: 256
  num_iters:
    description: Number of iterations that are measured.
    type: int
    default: 10
  num_warmup_batches:
    description: Batches before the first iteration.
    type: int
    default: 10
  num_batches_per_iter:
    description: Batches of each iteration.
    type: int
    default: 10
  extra_args:
    description: Further arguments of the script.
    type: list
    elements: str
    default: []
  env:
    description: Environment variables of the ranks, over those of the arm. A null exports the launcher's value.
    type: dict
    default: {}
  mca:
    description: Further parameters of Open MPI's components.
    type: dict
    default: {}
  device:
    description: What the benchmark must say that it ran on.
    type: str
    choices: [GPU, CPU]
    default: GPU
  timeout:
    description: Seconds after which the run is ended.
    type: int
    default: 1800
  run_dir:
    description: The folder of the run, on the controller. A link C(latest) beside it is made to point to it.
    type: str
    required: true
  target_log_dir:
    description: Folder on the launcher for the whole log.
    type: str
    default: /var/lib/taco-train/logs
  lab:
    description: Whether to mark the record as one from a lab.
    type: bool
    default: false
  system:
    description: For each host, by name, what M(taco.train.node_info) returned as C(node). The record keeps a part of it.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Run on two machines with eight GPUs each
  taco.train.benchmark:
    hosts:
      - {name: gpu1, slots: 8}
      - {name: gpu2, slots: 8}
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today
"""

RETURN = r"""
argv:
  description: The command, with everything before C(mpirun).
  returned: always
  type: list
  elements: str
record:
  description: The record, as it stands in C(records.jsonl). Its schema is C(docs/schemas/record-2.json) in the collection.
  returned: when the command was run
  type: dict
log:
  description: The log's path on the controller.
  returned: when the command was run
  type: str
"""

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: benchmark
short_description: Run a benchmark over all hosts and record its result
version_added: 1.0.0
description:
  - Builds the command line, which is C(mpirun) for most workloads, runs it with a time limit on the task's host (the launcher), parses its
    output and adds a record to C(records.jsonl) in the folder of the run.
  - The run is one module execution on the launcher, which the connection of the host reaches.
  - A run succeeds if the command ends with status 0 within the time limit, prints its value for every started rank on the requested
    device, and NCCL's log shows that the arm took effect. Otherwise the task fails. The record and the log are saved in both cases.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  check_mode:
    support: full
    details: Runs and writes nothing. Shows the command.
  diff_mode:
    support: none
options:
  job:
    description:
      - A run that another program has done, such as the command of a job of Arena, with its C(stdout), C(rc) and C(duration) in seconds.
      - The module records it and runs nothing.
    type: dict
  options:
    description:
      - The options of the run, with the names of the variables of the role P(taco.train.benchmark#role) without C(benchmark_).
      - These are C(workload), the options of this workload (see the guide to workloads), and C(interface), C(lightcc), C(env), C(mca),
        C(device) and C(timeout).
    type: dict
    default: {}
  arm:
    description:
      - The arm, the name of a built-in arm or a mapping; see P(taco.train.benchmark_arm#filter).
      - M(taco.train.acceleration) creates what the arm needs in the workers, see O(workers). The run fails if NCCL's log shows another
        network than the arm promises.
    type: raw
    default: taco
  hosts:
    description: >-
      The hosts of the ranks, each a mapping of C(name), the name for the launcher's ssh, and C(slots). Required without
      O(runs).
    type: list
    elements: dict
    default: []
  exec_prefix:
    description:
      - Prefix that runs the command in a container, such as V([docker, exec, taco-train]).
      - The command then also runs with C(timeout) in the container, because the end of C(docker exec) does not end its processes.
    type: list
    elements: str
    default: []
  mpirun:
    description: Path of C(mpirun) on the launcher.
    type: str
    default: /usr/local/openmpi/bin/mpirun
  run_dir:
    description: The folder of the run, on the controller. The link C(latest) beside it is set to this folder.
    type: str
    required: true
  target_log_dir:
    description: Folder on the launcher for the complete log.
    type: str
    default: /var/lib/taco-train/logs
  platform:
    description:
      - The platform, which selects the vendor's defaults for every run. E(LD_LIBRARY_PATH) and E(PATH) are exported on all platforms.
      - On V(cvm) and V(tke) these are E(NCCL_ALGO=RING), E(NCCL_DEBUG=INFO) and C(btl_tcp_if_include).
      - On V(ack) these are E(NCCL_DEBUG=INFO), E(NCCL_SOCKET_IFNAME), C(pml), C(btl), C(btl_tcp_if_include),
        C(oob_tcp_if_include) and C(orte_keep_fqdn_hostnames).
      - Null in C(env) or C(mca) of O(options) removes a default.
    type: str
    choices: [cvm, tke, ack]
    default: cvm
  local:
    description:
      - Whether all ranks run in the container of C(mpirun), which does not share the network of its host. C(mpirun) gets C(localhost) as
        the only one of O(hosts), and the option C(interface) is not used.
    type: bool
    default: false
  lab:
    description: Whether to mark the record as measured in a lab.
    type: bool
    default: false
  facts_of:
    description:
      - The hosts of the inventory whose facts the record contains. These are a part of C(taco_node), the C(node) of
        M(taco.train.node_info), and of C(taco_pod) the digest of the image and the node of a pod.
    type: list
    elements: str
    default: []
  workers:
    description:
      - For each host name the result of M(taco.train.acceleration). The record contains the image and the packages.
      - For an arm that needs them, its C(prepended) folders are at the front of the variables of each rank. If they differ between the
        hosts, or a host lacks one, the run is recorded as failed.
    type: dict
    default: {}
  not_ready:
    description: For each host the reason why it is not ready for the run. The run is then recorded as failed. An empty text is no reason.
    type: dict
    default: {}
  scripts:
    description:
      - The scripts that were copied to the hosts, in the format of P(taco.train.benchmark_files#lookup). The record of a run has the
        source and the checksum of its script.
      - For any other script, the option C(script) is a path on every host.
    type: list
    elements: dict
    default: []
  case:
    description: The run of a comparison, as planned by M(taco.train.comparison).
    type: dict
  label:
    description: The name of the run in the progress output. Not set means the arm and the model.
    type: str
  runs_left:
    description: The number of following runs of a comparison. The progress output then has the remaining time of all of them.
    type: int
    default: 0
  progress:
    description:
      - Whether iterations are shown while the benchmark runs, in place on a terminal and as lines otherwise.
      - Without a terminal, only the last iteration of a run of a comparison is shown.
    type: bool
    default: true
  progress_interval:
    description: Seconds between two reads of the log.
    type: float
    default: 2.0
  fail_on_bad_run:
    description: Whether the task fails if the run fails. The record has the failure in any case.
    type: bool
    default: true
  runs:
    description:
      - Runs of a comparison to do one after the other in this task, instead of a single run. Each is a mapping of C(overrides), the
        options that differ from O(options), and of its own O(arm), O(hosts), O(case), O(label) and O(runs_left).
      - Each is recorded before the next one starts. A failed run does not fail the task. An arm that failed twice in a row in a case,
        after the first O(records_before) records, is skipped there.
    type: list
    elements: dict
  records_before:
    description: The number of records in O(run_dir) when the comparison was planned. Failures among them do not count.
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: Run Horovod's synthetic benchmark on two machines with eight GPUs each
  taco.train.benchmark:
    hosts:
      - {name: gpu1, slots: 8}
      - {name: gpu2, slots: 8}
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today
  delegate_to: gpu1
  run_once: true

- name: Run a short benchmark of VGG16 over kernel TCP, with an environment variable for the ranks
  taco.train.benchmark:
    options:
      model: VGG16
      batch_size: 128
      num_iters: 5
      num_warmup_batches: 5
      env: {NCCL_DEBUG: INFO}
      timeout: 600
    arm: tcp
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today

- name: Run an arm of your own, based on a built-in one, with other options for LightCC
  taco.train.benchmark:
    arm:
      name: taco_2d
      base: taco
      env: {LIGHT_TOPK_ALLREDUCE: 0}
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today

- name: Run the PyTorch version of Horovod's benchmark
  taco.train.benchmark:
    options:
      framework: pytorch
      script: /opt/horovod/pytorch_synthetic_benchmark.py
      model: resnet50
    hosts: [{name: gpu1, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today

- name: Measure the bandwidth of the network with nccl-tests
  taco.train.benchmark:
    options:
      workload: nccl_tests
      binary: /opt/nccl-tests/build/all_reduce_perf
      min_bytes: 1M
      max_bytes: 1G
      iters: 50
    arm: harp
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today

- name: Run tf_cnn_benchmarks with mixed precision and XLA
  taco.train.benchmark:
    options:
      workload: tf_cnn_benchmarks
      model: resnet50
      num_batches: 200
      mixed_precision: true
      xla: true
    hosts: [{name: gpu1, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today

- name: Run the demo of dynamic embedding
  taco.train.benchmark:
    options:
      workload: ttf_dynamic_embedding
      demo: benchmark
      is_dynamic: true
    hosts: [{name: gpu1, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today

- name: Run a training program of your own, which prints lines such as "throughput 812.5 samples/s"
  taco.train.benchmark:
    options:
      workload: command
      command: [python3, /data/train.py, --epochs, "1"]
      chdir: /data
      pattern: 'throughput (?P<value>[0-9.]+) samples/s'
      unit: samples/s
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today

- name: Show the command without running it
  taco.train.benchmark:
    hosts: [{name: gpu1, slots: 8}]
    run_dir: results/today
  check_mode: true
  register: planned
"""

RETURN = r"""
argv:
  description: The command with its prefix.
  returned: without O(runs)
  type: list
  elements: str
record:
  description: The record, as in C(records.jsonl). Its schema is C(docs/schemas/record-1.json) in the collection.
  returned: when the command was run, without O(runs)
  type: dict
log:
  description: Path of the log on the controller.
  returned: when the command was run, without O(runs)
  type: str
runs:
  description: The completed runs, each with its C(label), C(outcome), C(record), C(log) and, when it failed, C(msg).
  returned: with O(runs)
  type: list
  elements: dict
records:
  description: The ids of the records of the completed runs.
  returned: when a command was run
  type: list
  elements: str
given_up:
  description: The arms that failed twice in a row, each with its case.
  returned: with O(runs)
  type: list
  elements: str
"""

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: benchmark
short_description: Run a benchmark over all hosts and record its result
version_added: 1.0.0
description:
  - Builds the command line, for most workloads of C(mpirun), runs it with a time limit on the task's host, the launcher, parses its output
    and adds a record to C(records.jsonl) in the folder of the run.
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
    version_added: 1.0.0
  workload:
    description: The workload. The role P(taco.train.benchmark#role) describes them.
    type: str
    choices: [command, horovod_synthetic, nccl_tests, tf_cnn_benchmarks, ttf_dynamic_embedding]
    default: horovod_synthetic
  arm:
    description:
      - The arm, the name of a built-in arm or a mapping; see P(taco.train.benchmark_arm#filter).
      - This module sets only its environment and options. M(taco.train.acceleration) prepares the workers for the arm, and the run fails
        if NCCL's log shows another state.
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
  interface:
    description: The network interface for MPI's own traffic.
    type: str
    default: eth0
  script:
    description:
      - Path of the benchmark script on every host. Not set means C(/mnt/tensorflow_synthetic_benchmark.py), or the script of O(framework).
      - A script in O(scripts) has the same name there, and runs from its copy on the hosts.
    type: str
  script_checksum:
    description: The required checksum of the script, as C(sha256:) and 64 hexadecimal digits, or V(none).
    type: str
  model:
    description: The name of the model in the script.
    type: str
    default: ResNet50
  batch_size:
    description: >-
      Batch size of each device. Not set means 256 for V(horovod_synthetic) and V(tf_cnn_benchmarks), and the demo's default for
      V(ttf_dynamic_embedding).
    type: int
  num_iters:
    description: Number of measured iterations.
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
  framework:
    description: >-
      Which of Horovod's synthetic benchmarks to run: V(tensorflow), V(tensorflow2) or V(pytorch). Not set means V(tensorflow), or the
      framework of O(script).
    type: str
    choices: [tensorflow, tensorflow2, pytorch]
  num_batches:
    description: Batches that C(tf_cnn_benchmarks) measures. Not set means the batches of all iterations.
    type: int
  binary:
    description: The program of C(nccl_tests). Not set means C(all_reduce_perf).
    type: str
  min_bytes:
    description: The smallest size for C(nccl_tests), in bytes or with K, M or G. Not set means 8.
    type: str
  max_bytes:
    description: The largest size for C(nccl_tests). Not set means 128M.
    type: str
  step_factor:
    description: The factor from one size of C(nccl_tests) to the next. Not set means 2.
    type: int
  iters:
    description: Iterations of C(nccl_tests) at each size. Not set means 20.
    type: int
  warmup:
    description: Iterations of C(nccl_tests) before those. Not set means 5.
    type: int
  json_path:
    description: >-
      File in the container for the results of C(nccl_tests) as JSON, which newer versions can write. Not set means that the printed table
      is parsed.
    type: str
  demo:
    description: >-
      The demo of C(ttf_dynamic_embedding): V(benchmark), V(ps) or V(estimator). Not set means V(benchmark).
    type: str
    choices: [benchmark, ps, estimator]
  demo_dir:
    description: The folder of the demos in the container. Not set means C(/opt/dynamic-embedding-demo).
    type: str
  is_dynamic:
    description: Whether the demo uses dynamic embedding. Not set means the demo's default.
    type: bool
  dnn_layer_num:
    description: Fully connected layers of the demo's deep part. Not set means the demo's default.
    type: int
  command:
    description: The command of workload C(command), as a list of arguments.
    type: list
    elements: str
  mpi:
    description: Whether C(command) is started by C(mpirun), once for each slot, or once on the launcher.
    type: bool
    default: true
  chdir:
    description: The working directory of C(command).
    type: str
  cleanup:
    description: Files to remove before C(command) runs.
    type: list
    elements: str
  pattern:
    description: >-
      A regular expression for the lines of iterations; its group C(value) is the number, for C(command) and
      C(ttf_dynamic_embedding).
    type: str
  total_pattern:
    description: >-
      A regular expression for the value of the run. Not set means the median of the iterations.
    type: str
  unit:
    description: The unit of the numbers of O(pattern).
    type: str
  higher_is_better:
    description: Whether a higher value is better.
    type: bool
    default: true
  lightcc:
    description: >-
      LightCC's options, with precedence over those of the arm, such as C(topk_ratio); the role lists all of them. An arm without LightCC
      ignores them.
    type: dict
    default: {}
  mixed_precision:
    description: Whether TensorFlow uses mixed precision.
    type: bool
    default: false
  xla:
    description: Whether TensorFlow compiles with XLA.
    type: bool
    default: false
  extra_args:
    description: Additional arguments of the script.
    type: list
    elements: str
    default: []
  env:
    description:
      - Environment variables of the ranks, with precedence over those of the arm.
      - Null removes a default of O(platform), and exports the launcher's value of any other variable.
    type: dict
    default: {}
  mca:
    description: Parameters of Open MPI's components, with precedence over the defaults of O(platform). Null removes a default.
    type: dict
    default: {}
  device:
    description: The device that the benchmark must report.
    type: str
    choices: [GPU, CPU]
    default: GPU
  timeout:
    description: Time limit of the run in seconds.
    type: int
    default: 1800
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
      - The platform, which sets the defaults of every run after the vendor's documents. E(LD_LIBRARY_PATH) and E(PATH) are exported on
        each.
      - On V(cvm) and V(tke) these are E(NCCL_ALGO=RING), E(NCCL_DEBUG=INFO) and C(btl_tcp_if_include).
      - On V(ack) these are E(NCCL_DEBUG=INFO), E(NCCL_SOCKET_IFNAME), C(pml), C(btl), C(btl_tcp_if_include),
        C(oob_tcp_if_include) and C(orte_keep_fqdn_hostnames).
      - Null in O(env) or O(mca) removes a default.
    type: str
    choices: [cvm, tke, ack]
    default: cvm
  local:
    description:
      - Whether all ranks run in the container of C(mpirun), which does not share the network of its host. C(mpirun) gets C(localhost) as
        the only one of O(hosts), and O(interface) is not used.
    type: bool
    default: false
  lab:
    description: Whether to mark the record as measured in a lab.
    type: bool
    default: false
  system:
    description: For each host name the C(node) of M(taco.train.node_info). The record contains a part of it.
    type: dict
    default: {}
  workers:
    description:
      - For each host name the result of M(taco.train.acceleration). The record contains the image and the packages.
      - Its C(environment) is passed to the ranks.
    type: dict
    default: {}
  not_ready:
    description: For each host the reason why it is not ready for the run. The run is then recorded as failed. An empty text is no reason.
    type: dict
    default: {}
  placement:
    description: For each pod its node, for the record.
    type: dict
    default: {}
  images:
    description: For each pod the digest of its image, for the record. For other hosts O(workers) has it.
    type: dict
    default: {}
    version_added: 1.0.0
  scripts:
    description:
      - The scripts that were copied to the hosts, in the format of P(taco.train.benchmark_files#lookup). The record of a run has the
        source and the checksum of its script.
      - For any other script, O(script) is a path on every host.
    type: list
    elements: dict
    default: []
  case:
    description: The run of a comparison, as planned by M(taco.train.comparison_plan).
    type: dict
  label:
    description: The name of the run in the progress output. Not set means the arm and the model.
    type: str
  runs_left:
    description: The number of following runs of a comparison. The progress output then has the remaining time of all of them.
    type: int
    default: 0
    version_added: 1.0.0
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
  overrides:
    description: Options of the workload and O(arm) as one mapping, with precedence over the options above.
    type: dict
    default: {}
  runs:
    description:
      - Runs of a comparison to do one after the other in this task, instead of a single run. Each is a mapping of O(overrides) and of its
        own O(arm), O(hosts), O(case), O(label) and O(runs_left).
      - Each is recorded before the next one starts. A failed run does not fail the task. An arm that failed twice in a row in a case,
        after the first O(records_before) records, is skipped there.
    type: list
    elements: dict
    version_added: 1.0.0
  records_before:
    description: The number of records in O(run_dir) when the comparison was planned. Failures among them do not count.
    type: int
    default: 0
    version_added: 1.0.0
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
    arm: tcp
    model: VGG16
    batch_size: 128
    num_iters: 5
    num_warmup_batches: 5
    env: {NCCL_DEBUG: INFO}
    timeout: 600
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
    framework: pytorch
    script: /opt/horovod/pytorch_synthetic_benchmark.py
    model: resnet50
    hosts: [{name: gpu1, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today

- name: Measure the bandwidth of the network with nccl-tests
  taco.train.benchmark:
    workload: nccl_tests
    arm: harp
    binary: /opt/nccl-tests/build/all_reduce_perf
    min_bytes: 1M
    max_bytes: 1G
    iters: 50
    hosts: [{name: gpu1, slots: 8}, {name: gpu2, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today

- name: Run tf_cnn_benchmarks with mixed precision and XLA
  taco.train.benchmark:
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
    workload: ttf_dynamic_embedding
    demo: benchmark
    is_dynamic: true
    hosts: [{name: gpu1, slots: 8}]
    exec_prefix: [docker, exec, taco-train]
    run_dir: results/today

- name: Run a training program of your own, which prints lines such as "throughput 812.5 samples/s"
  taco.train.benchmark:
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

#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: benchmark
short_description: Run a benchmark over all hosts and record its result
version_added: 1.0.0
description:
  - Builds the command line, which is C(mpirun)'s for most workloads, runs it on the task's host, the launcher, under a time
    limit, reads the result out of what it prints and adds a record to C(records.jsonl) in the folder of the run.
  - The run is one module execution on the launcher. Where that is, the host's connection decides.
  - A run is good only when the command ends with status 0 in time and prints its number, over every rank that was started,
    on the device asked for, and NCCL's log shows that the arm took effect. Anything else fails the task, after a record of it
    and its log were kept.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
attributes:
  check_mode:
    support: full
    details: Nothing is run or written. The command is shown.
  diff_mode:
    support: none
options:
  job:
    description:
      - A run that was done elsewhere, such as the command of a job of Arena, with its C(stdout), C(rc) and C(duration) in seconds.
      - It is recorded like a run of this module, and nothing is run.
    type: dict
    version_added: 1.0.0
  workload:
    description: What to run. The role P(taco.train.benchmark#role) says what each is.
    type: str
    choices: [command, horovod_synthetic, nccl_tests, tf_cnn_benchmarks, ttf_dynamic_embedding]
    default: horovod_synthetic
  arm:
    description:
      - Which acceleration is measured, by the name of a built-in arm or as a mapping; see P(taco.train.benchmark_arm#filter).
      - Only its environment and its options are set here. M(taco.train.acceleration) brings the workers into the state that the arm
        needs, and the run fails when NCCL's log shows another one.
    type: raw
    default: taco
  hosts:
    description: >-
      The hosts of the ranks, each a mapping of C(name), by which the launcher's ssh knows it, and C(slots). Required without
      O(runs).
    type: list
    elements: dict
    default: []
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
    description:
      - Path of the benchmark script on every host. Not set means C(/mnt/tensorflow_synthetic_benchmark.py), or the script of O(framework).
      - One of O(scripts) is named as there, and runs from where it was delivered.
    type: str
  script_checksum:
    description: The checksum that the script must have, as C(sha256:) and 64 hexadecimal digits, or V(none).
    type: str
  model:
    description: The model, by the name that the script knows.
    type: str
    default: ResNet50
  batch_size:
    description: >-
      Images of a batch on each device. Not set means 256 for V(horovod_synthetic) and V(tf_cnn_benchmarks), and leaves it to the demo
      for V(ttf_dynamic_embedding).
    type: int
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
  framework:
    description: >-
      Which of Horovod's synthetic benchmarks to run: V(tensorflow), V(tensorflow2) or V(pytorch). Not set means
      V(tensorflow), or what O(script) is.
    type: str
    choices: [tensorflow, tensorflow2, pytorch]
  num_batches:
    description: Batches that C(tf_cnn_benchmarks) measures. Not set means those of all iterations.
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
      File in the container for the results of C(nccl_tests) as JSON, which its newer versions write. Not set means that the
      table is read.
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
    description: Whether the demo uses dynamic embedding. Not set leaves it to the demo.
    type: bool
  dnn_layer_num:
    description: Fully connected layers of the demo's deep part. Not set leaves it to the demo.
    type: int
  command:
    description: The words of workload C(command).
    type: list
    elements: str
  mpi:
    description: Whether C(command) is started by C(mpirun), once for each slot, or once on the launcher.
    type: bool
    default: true
  chdir:
    description: The folder that C(command) is run in.
    type: str
  cleanup:
    description: Files that are removed before C(command) is run.
    type: list
    elements: str
  pattern:
    description: >-
      A regular expression that finds the number of an iteration in a line, in a group C(value), for C(command) and
      C(ttf_dynamic_embedding).
    type: str
  total_pattern:
    description: >-
      A regular expression that finds the number that the run is judged by. Not set means the median of the iterations.
    type: str
  unit:
    description: The unit of what O(pattern) finds.
    type: str
  higher_is_better:
    description: Whether more of it is better.
    type: bool
    default: true
  lightcc:
    description: >-
      LightCC's options over those of the arm, such as C(topk_ratio); see the role for all of them. They are left out in an
      arm without LightCC.
    type: dict
    default: {}
  mixed_precision:
    description: Whether TensorFlow is told to use mixed precision.
    type: bool
    default: false
  xla:
    description: Whether TensorFlow is told to compile with XLA.
    type: bool
    default: false
  extra_args:
    description: Further arguments of the script.
    type: list
    elements: str
    default: []
  env:
    description:
      - Environment variables of the ranks, over those of the arm.
      - A null takes a default of O(platform) away, and exports the launcher's value of any other variable.
    type: dict
    default: {}
  mca:
    description: Parameters of Open MPI's components, over the defaults of O(platform). A null takes a default away.
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
  platform:
    description:
      - The platform, whose documents give the defaults of every run. E(LD_LIBRARY_PATH) and E(PATH) are exported on each.
      - On V(cvm) and V(tke) these are E(NCCL_ALGO=RING), E(NCCL_DEBUG=INFO) and C(btl_tcp_if_include).
      - On V(ack) these are E(NCCL_DEBUG=INFO), E(NCCL_SOCKET_IFNAME), C(pml), C(btl), C(btl_tcp_if_include),
        C(oob_tcp_if_include) and C(orte_keep_fqdn_hostnames).
      - A null in O(env) or O(mca) takes a default away.
    type: str
    choices: [cvm, tke, ack]
    default: cvm
  local:
    description:
      - Whether all ranks run where C(mpirun) is started, in a container that does not share the network of its host. C(mpirun) gets
        C(localhost) for the only one of O(hosts), and O(interface) is not used.
    type: bool
    default: false
  lab:
    description: Whether to mark the record as one from a lab.
    type: bool
    default: false
  system:
    description: For each host, by name, what M(taco.train.node_info) returned as C(node). The record keeps a part of it.
    type: dict
    default: {}
  workers:
    description:
      - For each host, by name, what M(taco.train.acceleration) returned. The record keeps the image and the packages.
      - What its C(environment) asks for is given to the ranks.
    type: dict
    default: {}
  placement:
    description: For each host that is a pod, the node that it is on. The record keeps it.
    type: dict
    default: {}
  images:
    description: For each host that is a pod, the digest of its image. The record keeps it. Elsewhere it is known from O(workers).
    type: dict
    default: {}
    version_added: 1.0.0
  scripts:
    description:
      - The scripts that were delivered to the hosts, as P(taco.train.benchmark_files#lookup) returns them. The record of a run has the
        source and the checksum of its script.
      - Without one of them O(script) is a path on every host.
    type: list
    elements: dict
    default: []
  case:
    description: Which run of a comparison it is, as M(taco.train.compare) has planned it.
    type: dict
  label:
    description: What to call the run while it is shown. Not set means the arm and the model.
    type: str
  runs_left:
    description: How many runs of a comparison follow this one. The time that is shown is then the time left for all of them.
    type: int
    default: 0
    version_added: 1.0.0
  progress:
    description:
      - Whether iterations are shown as they come, in place on a terminal and as lines elsewhere.
      - Elsewhere than on a terminal, of a run of a comparison only the last iteration is shown.
    type: bool
    default: true
  progress_interval:
    description: Seconds between two looks at the log.
    type: float
    default: 2.0
  fail_on_bad_run:
    description: Whether the task fails when the run does. The record says it in any case.
    type: bool
    default: true
  overrides:
    description: Options of the workload and O(arm) that take the place of those above, for callers that have them as one mapping.
    type: dict
    default: {}
  runs:
    description:
      - Runs of a comparison to do one after the other in this one task, in place of a single run. Each is a mapping of O(overrides)
        and of what it has of its own among O(arm), O(hosts), O(case), O(label) and O(runs_left).
      - Each is recorded before the next one begins. One that fails doesn't fail the task. An arm that failed twice in a row in a
        case, since the first O(records_before) records, is not tried again there.
    type: list
    elements: dict
    version_added: 1.0.0
  records_before:
    description: How many records O(run_dir) had when the comparison was planned. Failures among them don't count.
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
  description: The command, with everything before C(mpirun).
  returned: without O(runs)
  type: list
  elements: str
record:
  description: The record, as it stands in C(records.jsonl). Its schema is C(docs/schemas/record-1.json) in the collection.
  returned: when the command was run, without O(runs)
  type: dict
log:
  description: The log's path on the controller.
  returned: when the command was run, without O(runs)
  type: str
runs:
  description: The runs that were done, each with its C(label), C(outcome), C(record), C(log) and, when it failed, C(msg).
  returned: with O(runs)
  type: list
  elements: dict
given_up:
  description: The arms that failed twice in a row, each with its case.
  returned: with O(runs)
  type: list
  elements: str
"""

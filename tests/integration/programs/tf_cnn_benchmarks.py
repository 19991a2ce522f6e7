# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All-reduce of MPI in place of training, in the lines of tf_cnn_benchmarks: the lab's image has no TensorFlow."""

import argparse
import time

import numpy as np
from mpi4py import MPI

parser = argparse.ArgumentParser()
for name in ("model", "variable_update", "device", "data_format"):
    parser.add_argument("--" + name, required=True)
for name in ("batch_size", "num_batches", "num_warmup_batches"):
    parser.add_argument("--" + name, type=int, required=True)
options = parser.parse_args()
world = MPI.COMM_WORLD
ranks = world.Get_size()
print("Model:       " + options.model)
print(f"Batch size:  {options.batch_size * ranks} global\n             {options.batch_size} per device")
print("Devices:     " + str([f"horovod/{options.device}:{rank}" for rank in range(ranks)]))
print("Variables:   " + options.variable_update)
print("Step\tImg/sec\ttotal_loss", flush=True)
gradients = np.ones(2**18, "f4")
total = np.empty_like(gradients)
spent = []
for step in range(1 - options.num_warmup_batches, options.num_batches + 1):
    begun = time.perf_counter()
    world.Allreduce(gradients, total)
    if step < 1:
        continue
    spent.append(time.perf_counter() - begun)
    if step == 1 or step % 10 == 0:
        speed = options.batch_size * len(spent) / sum(spent)
        print(f"{step}\timages/sec: {speed:.1f} +/- 0.0 (jitter = 0.0)\t7.000", flush=True)
print("-" * 64)
print(f"total images/sec: {ranks * options.batch_size * len(spent) / sum(spent):.2f}")
print("-" * 64, flush=True)

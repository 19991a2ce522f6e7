#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's training workload: compute on the CPU, then exchange gradients by a ring all-reduce, and count images.

It takes the arguments of Horovod's synthetic benchmark and prints in its format, so that what drives and reads the one
drives and reads the other. Its numbers say something about the lab's links and nothing about GPUs.
"""

import argparse
import glob
import os
import socket
import statistics
import sys
import time

# MiB of gradients in one exchange: single-precision parameters of the model, divided by 24 so that a run takes seconds on
# the lab's links and the models keep their proportions.
MODELS = {"mobilenetv2": 1, "resnet50": 4, "inceptionv3": 4, "resnet101": 7, "vgg16": 22}
PLUGIN = "/usr/lib/x86_64-linux-gnu/libnccl-net.so"
HARP_CONFIG = "/usr/local/tfabric/tools/config/ztcp*.conf"
LAB_LINE = "This is the taco.train lab: CPU ranks, not a measurement of GPUs"
MATRIX = 128


def chunks(length, parts):
    """Return (start, stop) of each of the parts of an array; their lengths differ by one at most."""
    edges = [length * part // parts for part in range(parts + 1)]
    return list(zip(edges, edges[1:]))


def ring_steps(rank, size):
    """Return (chunk to send, chunk to receive, whether to add it) for each step of a ring all-reduce."""
    reduce_scatter = [((rank - step) % size, (rank - step - 1) % size, True) for step in range(size - 1)]
    all_gather = [((rank + 1 - step) % size, (rank - step) % size, False) for step in range(size - 1)]
    return reduce_scatter + all_gather


def ring_allreduce(exchange, rank, size, array, buffer):
    """Sum a NumPy array over all ranks, in place, with the help of a buffer that holds its largest chunk.

    exchange(send, receive, to, source) sends one array while it receives another.
    """
    parts = chunks(len(array), size)
    for sent, received, add in ring_steps(rank, size):
        start, stop = parts[received]
        incoming = buffer[: stop - start]
        exchange(array[slice(*parts[sent])], incoming, (rank + 1) % size, (rank - 1) % size)
        if add:
            array[start:stop] += incoming
        else:
            array[start:stop] = incoming


def summary(rates, size, device="CPU"):
    """Return Horovod's last two lines for the images per second of each iteration."""
    mean, spread = statistics.mean(rates), 1.96 * statistics.pstdev(rates)
    return [
        "Img/sec per %s: %.1f +-%.1f" % (device, mean, spread),
        "Total img/sec on %d %s(s): %.1f +-%.1f" % (size, device, size * mean, size * spread),
    ]


def refusal(plugin=PLUGIN, config=HARP_CONFIG):
    """Return why this can't start, or None: like HARP, the plugin wants its configuration."""
    if not os.path.exists(plugin) or any(os.path.getsize(path) for path in glob.glob(config)):
        return None
    return "HARP (lab stand-in): %s is in place, but there is no configuration %s" % (plugin, config)


def parse(argv):
    parser = argparse.ArgumentParser(description="The gradient exchange of the taco.train lab.")
    parser.add_argument("--model", default="ResNet50", help="one of " + ", ".join(sorted(MODELS)))
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--num-warmup-batches", type=int, default=10)
    parser.add_argument("--num-batches-per-iter", type=int, default=10)
    parser.add_argument("--num-iters", type=int, default=10)
    parser.add_argument("--fp16-allreduce", action="store_true")
    parser.add_argument("--no-cuda", action="store_true", help="accepted as Horovod does; the lab has no GPU anyway")
    parser.add_argument("--eager", action="store_true", help="accepted as Horovod does, without effect")
    arguments = parser.parse_args(argv)
    if arguments.model.lower() not in MODELS:
        parser.error("the lab has no model %s, only %s" % (arguments.model, ", ".join(sorted(MODELS))))
    for name in ("batch_size", "num_batches_per_iter", "num_iters"):
        if getattr(arguments, name) < 1:
            parser.error("--%s must be 1 or more" % name.replace("_", "-"))
    return arguments


def main():
    arguments = parse(sys.argv[1:])
    host = socket.gethostname()
    reason = refusal()
    if reason:
        sys.exit("%s: %s" % (host, reason))

    import numpy as np
    from mpi4py import MPI  # starts MPI, which a refused run must not

    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()

    def say(text):
        if rank == 0:
            print(text, flush=True)

    def exchange(send, receive, to, source):
        # As bytes, because MPI has no type for half precision.
        outgoing = [np.ascontiguousarray(send).view(np.uint8), MPI.BYTE]
        world.Sendrecv(outgoing, to, recvbuf=[receive.view(np.uint8), MPI.BYTE], source=source)

    if os.environ.get("NCCL_DEBUG") == "INFO" and os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", "0") == "0":
        network = "LabHARP" if os.path.exists(PLUGIN) else "Socket"
        print("%s:%d:%d [0] NCCL INFO Using network %s" % (host, os.getpid(), os.getpid(), network), flush=True)

    precision = np.float16 if arguments.fp16_allreduce else np.float32
    length = MODELS[arguments.model.lower()] * 2**20 // 4
    # Small whole numbers, so that the sum over all ranks is known; half precision holds them exactly up to 2048.
    pattern = (np.arange(length) % 7 + 1).astype(precision)
    expected = pattern.astype(np.float32) * (size * (size + 1) / 2)
    tolerance = 0.01 if arguments.fp16_allreduce else 0
    buffer = np.empty(length // size + 1, precision)
    left, right = np.random.default_rng(rank).random((2, MATRIX, MATRIX), dtype=np.float32)

    def batch():
        for _image in range(arguments.batch_size):
            np.matmul(left, right)
        summed = pattern * precision(rank + 1)
        ring_allreduce(exchange, rank, size, summed, buffer)
        if not np.allclose(summed.astype(np.float32), expected, rtol=tolerance, atol=0):
            print("%s: rank %d holds a wrong sum of the gradients" % (host, rank), file=sys.stderr, flush=True)
            world.Abort(1)

    def timed(batches):
        world.Barrier()
        start = time.perf_counter()
        for _batch in range(batches):
            batch()
        return time.perf_counter() - start

    say(LAB_LINE)
    say("Model: %s" % arguments.model)
    say("Batch size: %d" % arguments.batch_size)
    say("Number of CPUs: %d" % size)
    say("Running warmup...")
    timed(arguments.num_warmup_batches)
    say("Running benchmark...")
    rates = []
    for number in range(arguments.num_iters):
        rate = arguments.batch_size * arguments.num_batches_per_iter / timed(arguments.num_batches_per_iter)
        say("Iter #%d: %.1f img/sec per CPU" % (number, rate))
        rates.append(rate)
    for text in summary(rates, size):
        say(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's training workload: compute on the CPU, then exchange gradients as LightCC or Horovod would, and count images.

It takes the arguments of Horovod's synthetic benchmark and prints in its format, so that what drives and reads the one
drives and reads the other; lines of its own begin with LAB. It obeys LightCC's documented variables LIGHT_* and
HOROVOD_FUSION_THRESHOLD (exchange_settings), with tensors and thresholds divided by one factor (exchange_plan). Its numbers
say something about the lab's links and nothing about GPUs.
"""

import argparse
import ctypes
import glob
import os
import socket
import statistics
import sys
import time

import exchange_plan
import exchange_settings
import model_tensors
import traffic

# As NCCL loads it, by its name.
PLUGIN = "libnccl-net.so"
HARP_CONFIG = "/usr/local/tfabric/tools/config/ztcp*.conf"
LAB_LINE = "This is the taco.train lab: CPU ranks, not a measurement of GPUs"
MATRIX = 128
# Open MPI asks the receiver before it sends more than 64 KiB over TCP (btl_tcp_eager_limit). Where two ranks send each other
# that much, the answer waits behind the data of the other direction, and the link carries one direction at a time.
PIECE = 60000


def summary(rates, size, device="CPU"):
    """Return Horovod's last two lines for the images per second of each iteration."""
    mean, spread = statistics.mean(rates), 1.96 * statistics.pstdev(rates)
    return [
        "Img/sec per %s: %.1f +-%.1f" % (device, mean, spread),
        "Total img/sec on %d %s(s): %.1f +-%.1f" % (size, device, size * mean, size * spread),
    ]


def finds_plugin(plugin=PLUGIN):
    """Whether the dynamic linker's search for the plugin ends at a plugin. The lab's stand-in is a text, which it finds and can't load."""
    try:
        ctypes.CDLL(plugin)
    except OSError as error:
        return "invalid ELF header" in str(error)
    return True


def refusal(plugin=PLUGIN, config=HARP_CONFIG):
    """The reason why this cannot start, or None: like HARP, the plugin needs its configuration."""
    if not finds_plugin(plugin) or any(os.path.getsize(path) for path in glob.glob(config)):
        return None
    return "HARP (lab stand-in): %s is in place, but there is no configuration %s" % (plugin, config)


def parse(argv):
    parser = argparse.ArgumentParser(description="The gradient exchange of the taco.train lab.")
    parser.add_argument("--model", default="ResNet50", help="one of " + ", ".join(sorted(model_tensors.MODELS)))
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--num-warmup-batches", type=int, default=10)
    parser.add_argument("--num-batches-per-iter", type=int, default=10)
    parser.add_argument("--num-iters", type=int, default=10)
    parser.add_argument("--fp16-allreduce", action="store_true")
    parser.add_argument("--no-cuda", action="store_true", help="accepted as Horovod does; the lab has no GPU anyway")
    parser.add_argument("--eager", action="store_true", help="accepted as Horovod does, without effect")
    arguments = parser.parse_args(argv)
    if model_tensors.key(arguments.model) not in model_tensors.MODELS:
        parser.error("the lab has no model %s, only %s" % (arguments.model, ", ".join(sorted(model_tensors.MODELS))))
    for name in ("batch_size", "num_batches_per_iter", "num_iters"):
        if getattr(arguments, name) < 1:
            parser.error("--%s must be 1 or more" % name.replace("_", "-"))
    return arguments


def seconds(batch, batches, slowdown):
    """The time of a number of batches, after they were slowed down by a factor.

    Ranks wait for each other in every batch, so one that slept after each would wait for the others' sleep as well.
    """
    start = time.perf_counter()
    for _batch in range(batches):
        batch()
    time.sleep((time.perf_counter() - start) * (slowdown - 1))
    return time.perf_counter() - start


def settings_of_rank_0(world):
    """Return the Settings that rank 0 finds in its environment, which all must follow, or end the run."""
    found = None
    if world.Get_rank() == 0:
        try:
            found = exchange_settings.read(os.environ, world.Get_size())
        except exchange_settings.SettingsError as error:
            found = error
    found = world.bcast(found)
    if isinstance(found, exchange_settings.SettingsError):
        sys.exit("%s: %s" % (socket.gethostname(), found) if world.Get_rank() == 0 else 1)
    return found


def pieces(array):
    """Return an array cut into pieces of PIECE bytes; it holds bytes."""
    return [array[start : start + PIECE] for start in range(0, len(array), PIECE)]


def main():
    arguments = parse(sys.argv[1:])
    host = socket.gethostname()
    reason = refusal()
    if reason:
        sys.exit("%s: %s" % (host, reason))

    import gradients  # needs NumPy, which --help must not
    import numpy as np
    from mpi4py import MPI  # starts MPI, which a refused run must not

    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    settings = settings_of_rank_0(world)
    hosts = world.allgather(MPI.Get_processor_name())

    def say(text):
        if rank == 0:
            print(text, flush=True)

    def send_and_receive(outgoing, incoming, to, source):
        # As bytes, because MPI has no type for half precision.
        requests = [
            world.Irecv([piece, MPI.BYTE], source) for array in incoming for piece in pieces(array.view(np.uint8))
        ]
        requests += [world.Isend([piece, MPI.BYTE], to) for array in outgoing for piece in pieces(array.view(np.uint8))]
        MPI.Request.Waitall(requests)

    def sum_over_ranks(array):
        total = np.empty_like(array)
        world.Allreduce(array, total)
        return total

    if os.environ.get("NCCL_DEBUG") == "INFO" and os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", "0") == "0":
        network = "LabHARP" if finds_plugin() else "Socket"
        print("%s:%d:%d [0] NCCL INFO Using network %s" % (host, os.getpid(), os.getpid(), network), flush=True)

    tensors, itemsize = model_tensors.tensors(arguments.model), 2 if arguments.fp16_allreduce else 4
    transfers = exchange_plan.plan(tensors, itemsize, settings)
    mine = gradients.Gradients(transfers, settings, rank, size, half=arguments.fp16_allreduce)
    exchange = traffic.CountingExchange(send_and_receive, rank, hosts)
    left, right = np.random.default_rng(rank).random((2, MATRIX, MATRIX), dtype=np.float32)

    def batch():
        for _image in range(arguments.batch_size):
            np.matmul(left, right)
        if not mine.batch(exchange, sum_over_ranks):
            print("%s: rank %d holds a wrong sum of the gradients" % (host, rank), file=sys.stderr, flush=True)
            world.Abort(1)

    def timed(batches):
        world.Barrier()
        return seconds(batch, batches, settings.slowdown)

    say(LAB_LINE)
    for text in exchange_plan.lines(arguments.model, tensors, itemsize, transfers, settings):
        say(text)
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
    batches = arguments.num_warmup_batches + arguments.num_iters * arguments.num_batches_per_iter
    # Every batch sends the same: what is exchanged depends on sizes, not on values.
    sent = traffic.busiest(world.allgather(exchange.sent // batches), hosts)
    say(traffic.line(sent, settings.rate_mbit))


if __name__ == "__main__":
    main()

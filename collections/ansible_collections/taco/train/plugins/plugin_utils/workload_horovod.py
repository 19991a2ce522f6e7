# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn the options of the workload `horovod_synthetic` into environment, MCA parameters and command."""

from typing import NamedTuple

ARMS = {"taco": "LightCC and HARP", "harp": "Horovod and HARP"}
# Which software an arm stands for; these two need files moved and packages changed on the workers.
ARMS_OF_ACCELERATION = {"tcp": "Horovod over kernel TCP", "horovod": "upstream Horovod in place of LightCC"}
GPUS_OF_LIGHT_INTRA_SIZE = 8
TOPK_NOTE = "LightCC's top-k is on: it compresses gradients with loss, so the arms don't run the same algorithm."

COMMON = {"NCCL_ALGO": "RING", "NCCL_DEBUG": "INFO"}
HOROVOD = {"HOROVOD_MPI_THREADS_DISABLE": "1", "HOROVOD_FUSION_THRESHOLD": "0", "HOROVOD_CYCLE_TIME": "0"}
LIGHTCC = {"LIGHT_2D_ALLREDUCE": "1", "LIGHT_TOPK_ALLREDUCE": "1", "LIGHT_TOPK_THRESHOLD": "2097152"}
# The launcher's values go to every rank.
EXPORTED = {"LD_LIBRARY_PATH": None, "PATH": None}

# What the script assumes; said on the command line only when it differs, as in the vendor's commands.
SCRIPT_DEFAULTS = {"num_warmup_batches": 10, "num_batches_per_iter": 10, "num_iters": 10}


class WorkloadError(Exception):
    """The options don't make a run."""


class Workload(NamedTuple):
    """What mpirun is asked to run."""

    env: dict
    mca: dict
    command: list
    notes: list


def environment(arm, slots, extra):
    """Return the environment of an arm; what the user adds comes before what is exported, as the documents have it."""
    extra = extra or {}
    env = dict(COMMON)
    if arm == "taco":
        env.update(HOROVOD)
        env.update(LIGHTCC)
        if "LIGHT_INTRA_SIZE" not in extra:
            if len(set(slots)) > 1:
                raise WorkloadError(
                    f"Arm taco groups the same number of GPUs on each host and the hosts have {slots} slots: "
                    "set benchmark_hosts to equal slots, or LIGHT_INTRA_SIZE in benchmark_env."
                )
            if slots[0] != GPUS_OF_LIGHT_INTRA_SIZE:
                env["LIGHT_INTRA_SIZE"] = str(slots[0])
    env.update(extra)
    env.update((name, value) for name, value in EXPORTED.items() if name not in env)
    return env


def command(options):
    words = ["python3", options["script"], f"--model={options['model']}", f"--batch-size={options['batch_size']}"]
    for name, default in SCRIPT_DEFAULTS.items():
        value = options.get(name, default)
        if value != default:
            words.append(f"--{name.replace('_', '-')}={value}")
    if options.get("device", "GPU") == "CPU":
        words.append("--no-cuda")
    return words + [str(word) for word in options.get("extra_args") or []]


def check(options):
    """Raise the first option that can't be run, by the name of the role's variable."""
    arm = options["arm"]
    if arm in ARMS_OF_ACCELERATION:
        raise WorkloadError(
            "Arm {} ({}) needs the workers' acceleration changed, which this version doesn't do: "
            "set benchmark_arm to {}.".format(arm, ARMS_OF_ACCELERATION[arm], " or ".join(ARMS))
        )
    if arm not in ARMS:
        raise WorkloadError("There is no arm {}: set benchmark_arm to {}.".format(arm, " or ".join(ARMS)))
    for name in ("batch_size", "num_iters", "num_batches_per_iter"):
        if options.get(name, 1) < 1:
            raise WorkloadError(f"benchmark_{name} is {options[name]}; it must be 1 or more.")
    if options.get("num_warmup_batches", 0) < 0:
        raise WorkloadError(f"benchmark_num_warmup_batches is {options['num_warmup_batches']}; it must be 0 or more.")
    for name in ("script", "model", "interface"):
        if not options[name] or options[name].startswith("-"):
            raise WorkloadError(f"benchmark_{name} is {options[name]!r}; it must be set.")


def build(options, slots):
    """Return the Workload of options and of the slots of each host."""
    check(options)
    env = environment(options["arm"], slots, options.get("env"))
    mca = dict({"btl_tcp_if_include": options["interface"]}, **(options.get("mca") or {}))
    notes = [TOPK_NOTE] if str(env.get("LIGHT_TOPK_ALLREDUCE", "0")) not in ("0", "False") else []
    return Workload(env, mca, command(options), notes)

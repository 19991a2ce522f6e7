# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes in the user's script, its data and its build, as Python's exceptions report them, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import cause

# What begins the line of an exception.
ERROR = r"^(?:E +)?(?:[\w.]+\.)?\w+(?:Error|Exception): *"
FOLDER = (
    "check that the folder is on every host and that the container has a mount of it, at this path; complete a cache of downloads on each "
    "host before the run, or let one rank fill it while the others wait"
)

SCRIPT = [
    cause(
        "python_version",
        r"(?P<what>SyntaxError: (?:invalid syntax|Missing parentheses in call to 'print'|future feature \w+ is not "
        r"defined).{0,80}|^(?:IndentationError|TabError): .{1,100})",
        "the script is for another version of Python, or is damaged ({what})",
        "set benchmark_options.script to one for Python 3, or use a taco_image with the Python that the script needs",
    ),
    cause(
        "cuda_fork",
        r"Cannot re-initialize CUDA in forked subprocess",
        "the script used CUDA before it started processes by fork",
        "use the start method spawn for data loaders and processes in the script, and CUDA only after they are started",
    ),
    cause(
        "horovod_init",
        r"Horovod has not been initialized",
        "the script calls Horovod before hvd.init()",
        "call hvd.init() first in the script, and on every rank",
    ),
    cause(
        "group_init",
        r"Default process group (?:is not|has not been) initialized|process group.{0,40} (?:is not|has not been) initialized|"
        r"torch\.distributed is not (?:yet )?initialized",
        "the script uses PyTorch's process group before init_process_group()",
        "start the script with torchrun, and call init_process_group() in it before what needs the group (DistributedDataParallel, "
        "DistributedSampler, get_rank)",
    ),
    cause(
        "rank_count",
        ERROR
        + r"(?P<what>(?=.{0,200}(?i:world[_ ]?size|num(?:ber)?[_ ](?:of )?(?:gpus|ranks|workers|processes|nodes)|parallel|"
        r"\branks\b|\bGPUs\b)).{0,160}(?:divisible by|(?:is not|must be) (?:equal|a multiple)|does not match|!=|"
        r"evenly).{0,120})",
        "the number of ranks does not fit what the script splits ({what})",
        "change the number of hosts or ranks (benchmark_hosts, taco_gpus_per_node), or the script's sizes in benchmark_options.extra_args "
        "(parallel sizes, batch)",
    ),
    cause(
        "data",
        ERROR
        + r"(?P<what>(?:corrupted record|truncated record|[Uu]nable to parse|cannot identify image file|[Ii]nvalid (?:JPEG|PNG)|"
        r"[Ii]nput is empty|image file is truncated|Truncated or oversized).{0,160})|DataLossError: *(?P<what2>.{1,160})",
        "a file of the data is damaged ({what})",
        "copy the file again and compare its size and checksum with the source on every host",
    ),
    cause(
        # Of TensorFlow Datasets, also in its list of hints.
        "data_set",
        r"(?P<what>No builder could be found in the directory: \S{1,200} for the builder: \S{1,120}|"
        r"The builder directory \S{1,300} doesn't contain any versions|Failed to construct dataset \"?[^\s\"]{1,120}|"
        r"DatasetNotFoundError: .{1,200}|Couldn't find any data file at .{1,160})",
        "the script finds no data set of this name ({what})",
        "correct its name and its folder in benchmark_options.extra_args, and put the prepared data set there on every host (for "
        "TensorFlow Datasets DATA_DIR/NAME/VERSION)",
    ),
    cause(
        "data",
        r"OutOfRangeError: *(?P<what>.{0,160})",
        "the data ended before the script's last step ({what})",
        "use fewer steps (benchmark_options.num_iters), repeat the data in the script, or check that all its files are there",
    ),
    cause(
        "rendezvous_env",
        r"environment variable (?P<variable>\w+) expected, but not set|^KeyError: '(?P<variable2>(?:LOCAL_|WORLD_)?RANK|WORLD_SIZE|"
        r"MASTER_(?:ADDR|PORT)|(?:OMPI_COMM_WORLD|SLURM|PMI|MV2_COMM_WORLD)_\w+)'",
        "the script needs the environment variable {variable}, which its launcher did not set",
        "start the script with the launcher that it is for (torchrun, mpirun, srun), or set MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE "
        "from the variables of mpirun",
    ),
    cause(
        "device_mismatch",
        r"(?P<what>Expected all tensors to be on the same device.{0,120}|Input type \(torch\.(?:cuda\.)?(?P<type>\w+)\) and weight "
        r"type \(torch\.(?:cuda\.)?(?P=type)\).{0,80}|Expected object of (?:device|backend) type.{1,120}|"
        r"[Ii]nput and parameter tensors are not at the same device.{0,80})",
        "the script mixes tensors of several devices ({what})",
        "move model and data to one device in the script: torch.cuda.set_device(local_rank) first, then .to() for both",
    ),
    cause(
        "device_mismatch",
        r"(?P<what>No backend type associated with device type \w+|[Tt]ensors must be CUDA and dense|"
        r"Tensors must be on distinct GPU devices|[Ii]nput tensor must be on the same device as the process group)",
        "the script passes to NCCL tensors that are not on the rank's own GPU ({what})",
        "move the tensors to the GPU of the rank (torch.cuda.set_device(local_rank), then .cuda()), or use the backend gloo for those on "
        "the CPU (cpu:gloo,cuda:nccl)",
    ),
    cause(
        "dtype_mismatch",
        r"(?P<what>assigned grad has data of a different type)",
        "a gradient has another type than its parameter ({what}), as with FSDP over parameters of mixed precision",
        "keep one type for parameters, gradients and mixed precision in the script: FSDP's MixedPrecision(reduce_dtype, "
        "keep_low_precision_grads) and that of the launcher (accelerate), use_orig_params=False; or a newer PyTorch",
        context=r"_use_unsharded_grad_views|/fsdp/|[Ff]ully_?[Ss]harded",
    ),
    cause(
        "dtype_mismatch",
        r"(?P<what>expected (?:scalar type|m1 and m2 to have the same dtype).{1,100}|Input type \([^)]{1,60}\) and weight type.{1,80}|"
        r"must have the same dtype.{0,100}|Expected object of (?:scalar type|type) .{1,100}|Tensor conversion requested dtype.{1,100})",
        "the script mixes tensors of several types ({what})",
        "use one precision for model and data in the script (autocast, .half() or .float() for both)",
    ),
    cause(
        "checkpoint",
        r"Error\(s\) in loading state_dict",
        "a checkpoint has other sizes than the model ({layer}: {kept} in the checkpoint, {own} in the model)",
        "give the model the sizes of the checkpoint (number of classes, vocabulary), or leave this layer out: delete its keys and load "
        "with strict=False",
        context=r"size mismatch for (?P<layer>[\w.]{1,120}): copying a param with shape (?P<kept>[\w.]{0,20}\([^)]{1,60}\)) from "
        r"checkpoint, the shape in current model is (?P<own>[\w.]{0,20}\([^)]{1,60}\))",
    ),
    cause(
        "checkpoint",
        r"(?P<what>Error\(s\) in loading state_dict.{0,80}|Assign requires shapes of both tensors to match.{0,80}|"
        r"Key \S+ not found in checkpoint)",
        "a checkpoint does not fit the model ({what})",
        "use the checkpoint of this model, or remove it to start anew; names that differ by module. only come from DistributedDataParallel",
    ),
    cause(
        "checkpoint",
        r"(?P<what>PytorchStreamReader failed.{0,80}|invalid load key.{0,40})",
        "a checkpoint is damaged ({what})",
        "use an earlier checkpoint, or remove it to start anew",
    ),
    cause(
        "shape_mismatch",
        ERROR + r"(?P<what>(?:mat1 and mat2 shapes|size mismatch|shape mismatch|The size of tensor|Sizes of tensors "
        r"must match|Incompatible shapes|Dimensions must be equal|Given groups=|"
        r"The expanded size of the tensor|shape '|Shapes? (?:must|\()).{0,160})",
        "tensors in the script have shapes that do not fit ({what})",
        "check benchmark_options.model and benchmark_options.batch_size against the sizes that the script's model and data have",
    ),
    cause(
        "ddp_unused",
        r"(?P<what>Expected to have finished reduction in the prior iteration|Expected to mark a variable ready only once)",
        "the script's model has parameters that a step does not use, or uses twice ({what})",
        "pass find_unused_parameters=True to DistributedDataParallel in the script, or remove the parameters",
    ),
    cause(
        "data_loader",
        r"(?P<what>DataLoader worker \(pid.{1,200}?\) exited unexpectedly.{0,60}|DataLoader timed out after.{0,30}|"
        r"Pin memory thread exited unexpectedly|Unexpected segmentation fault encountered in worker)",
        "a data loader's process ended ({what})",
        "run with num_workers 0 in the script to see its error; look for oom-kill in the host's dmesg, and set "
        "training_container_shm_size to a larger size",
    ),
    cause(
        "build",
        r"(?P<what>Ninja is required to load C\+\+ extensions|Error building extension '[^']+'|CUDA_HOME environment variable is not set|"
        r"nvcc fatal.{1,120}|The detected CUDA version \([^)]+\) mismatches.{0,120})",
        "the script builds an extension, which failed ({what})",
        "use a taco_image with ninja, a compiler and the CUDA toolkit of the framework's version, or with the extension built in",
    ),
    cause(
        "permission",
        r"PermissionError: \[Errno 13\] Permission denied: '(?P<path>[^']+)'|"
        r"PermissionDeniedError: (?P<path2>/\S{1,200}); Permission denied",
        "a rank may not write or read {path}",
        "change the owner of the folder on the host, or run the container as a user that may use it",
    ),
    cause(
        "file_absent",
        r"(?:FileNotFoundError|IOError|NotADirectoryError): \[Errno \d+\] (?:No such file or directory|Not a directory): "
        r"'(?P<path>[^']*/[^']*)'|NotFoundError: (?P<path2>/\S{1,200}); No such file or directory|"
        r"FileNotFoundError: No such file or directory: \"?(?P<path3>/[^\"]{1,300})",
        "a rank finds no {path}",
        FOLDER,
    ),
    cause(
        # Of safetensors. The path may stand in the next line.
        "file_absent",
        r"FileNotFoundError: No such file or directory:?\s*$",
        "a rank finds no file {path}",
        FOLDER,
        r"^\"?(?P<path>/[^\"\r\n]{1,300})",
    ),
]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes in the user's script, its data and its build, as Python's exceptions report them, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

# What begins the line of an exception.
ERROR = r"^(?:E +)?(?:[\w.]+\.)?\w+(?:Error|Exception): *"
FOLDER = (
    "check that the folder is on every host and that the container has a mount of it, at this path; complete a cache of downloads on each "
    "host before the run, or let one rank fill it while the others wait"
)
SCRIPT = table(
    r"""
python_version
  pattern (?P<what>SyntaxError: (?:invalid syntax|Missing parentheses in call to 'print'|future feature \w+ is not defined).{0,80}
          |^(?:IndentationError|TabError): .{1,100})
  found   the script is for another version of Python, or is damaged ({what})
  fix     set benchmark_options.script to one for Python 3, or use a taco_image with the Python that the script needs
cuda_fork
  pattern Cannot re-initialize CUDA in forked subprocess
  found   the script used CUDA before it started processes by fork
  fix     use the start method spawn for data loaders and processes in the script, and CUDA only after they are started
horovod_init
  pattern Horovod has not been initialized
  found   the script calls Horovod before hvd.init()
  fix     call hvd.init() first in the script, and on every rank
group_init
  pattern Default process group (?:is not|has not been) initialized|process group.{0,40} (?:is not|has not been) initialized
          |torch\.distributed is not (?:yet )?initialized
  found   the script uses PyTorch's process group before init_process_group()
  fix     start the script with torchrun, and call init_process_group() in it before what needs the group (DistributedDataParallel,
          DistributedSampler, get_rank)
rank_count
  pattern <<ERROR>>(?P<what>(?=.{0,200}(?i:world[_ ]?size|num(?:ber)?[_ ](?:of )?(?:gpus|ranks|workers|processes|nodes)|parallel|\branks\b
          |\bGPUs\b)).{0,160}(?:divisible by|(?:is not|must be) (?:equal|a multiple)|does not match|!=|evenly).{0,120})
  found   the number of ranks does not fit what the script splits ({what})
  fix     change the number of hosts or ranks (benchmark_hosts, taco_gpus_per_node), or the script's sizes in benchmark_options.extra_args
          (parallel sizes, batch)
data
  pattern <<ERROR>>(?P<what>(?:corrupted record|truncated record|[Uu]nable to parse|cannot identify image file|[Ii]nvalid (?:JPEG|PNG)
          |[Ii]nput is empty|image file is truncated|Truncated or oversized).{0,160})|DataLossError: *(?P<what2>.{1,160})
  found   a file of the data is damaged ({what})
  fix     copy the file again and compare its size and checksum with the source on every host
# Of TensorFlow Datasets, also in its list of hints.
data_set
  pattern (?P<what>No builder could be found in the directory: \S{1,200} for the builder: \S{1,120}
          |The builder directory \S{1,300} doesn't contain any versions|Failed to construct dataset "?[^\s"]{1,120}
          |DatasetNotFoundError: .{1,200}|Couldn't find any data file at .{1,160})
  found   the script finds no data set of this name ({what})
  fix     correct its name and its folder in benchmark_options.extra_args, and put the prepared data set there on every host (for TensorFlow
          Datasets DATA_DIR/NAME/VERSION)
data
  pattern OutOfRangeError: *(?P<what>.{0,160})
  found   the data ended before the script's last step ({what})
  fix     use fewer steps (benchmark_options.num_iters), repeat the data in the script, or check that all its files are there
rendezvous_env
  pattern environment variable (?P<variable>\w+) expected, but not set|^KeyError: '(?P<variable2>(?:LOCAL_|WORLD_)?RANK|WORLD_SIZE
          |MASTER_(?:ADDR|PORT)|(?:OMPI_COMM_WORLD|SLURM|PMI|MV2_COMM_WORLD)_\w+)'
  found   the script needs the environment variable {variable}, which its launcher did not set
  fix     start the script with the launcher that it is for (torchrun, mpirun, srun), or set MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE
          from the variables of mpirun
device_mismatch
  pattern (?P<what>Expected all tensors to be on the same device.{0,120}
          |Input type \(torch\.(?:cuda\.)?(?P<type>\w+)\) and weight type \(torch\.(?:cuda\.)?(?P=type)\).{0,80}
          |Expected object of (?:device|backend) type.{1,120}|[Ii]nput and parameter tensors are not at the same device.{0,80})
  found   the script mixes tensors of several devices ({what})
  fix     move model and data to one device in the script: torch.cuda.set_device(local_rank) first, then .to() for both
device_mismatch
  pattern (?P<what>No backend type associated with device type \w+|[Tt]ensors must be CUDA and dense|Tensors must be on distinct GPU devices
          |[Ii]nput tensor must be on the same device as the process group)
  found   the script passes to NCCL tensors that are not on the rank's own GPU ({what})
  fix     move the tensors to the GPU of the rank (torch.cuda.set_device(local_rank), then .cuda()), or use the backend gloo for those on
          the CPU (cpu:gloo,cuda:nccl)
dtype_mismatch
  pattern (?P<what>assigned grad has data of a different type)
  found   a gradient has another type than its parameter ({what}), as with FSDP over parameters of mixed precision
  fix     keep one type for parameters, gradients and mixed precision in the script: FSDP's MixedPrecision(reduce_dtype,
          keep_low_precision_grads) and that of the launcher (accelerate), use_orig_params=False; or a newer PyTorch
  context _use_unsharded_grad_views|/fsdp/|[Ff]ully_?[Ss]harded
dtype_mismatch
  pattern (?P<what>expected (?:scalar type|m1 and m2 to have the same dtype).{1,100}|Input type \([^)]{1,60}\) and weight type.{1,80}
          |must have the same dtype.{0,100}|Expected object of (?:scalar type|type) .{1,100}|Tensor conversion requested dtype.{1,100})
  found   the script mixes tensors of several types ({what})
  fix     use one precision for model and data in the script (autocast, .half() or .float() for both)
checkpoint
  pattern Error\(s\) in loading state_dict
  found   a checkpoint has other sizes than the model ({layer}: {kept} in the checkpoint, {own} in the model)
  fix     give the model the sizes of the checkpoint (number of classes, vocabulary), or leave this layer out: delete its keys and load with
          strict=False
  context size mismatch for (?P<layer>[\w.]{1,120}): copying a param with shape (?P<kept>[\w.]{0,20}\(
          [^)]{1,60}\)) from checkpoint, the shape in current model is (?P<own>[\w.]{0,20}\([^)]{1,60}\))
checkpoint
  pattern (?P<what>Error\(s\) in loading state_dict.{0,80}|Assign requires shapes of both tensors to match.{0,80}
          |Key \S+ not found in checkpoint)
  found   a checkpoint does not fit the model ({what})
  fix     use the checkpoint of this model, or remove it to start anew; names that differ by module. only come from DistributedDataParallel
checkpoint
  pattern (?P<what>PytorchStreamReader failed.{0,80}|invalid load key.{0,40})
  found   a checkpoint is damaged ({what})
  fix     use an earlier checkpoint, or remove it to start anew
shape_mismatch
  pattern <<ERROR>>(?P<what>(?:mat1 and mat2 shapes|size mismatch|shape mismatch|The size of tensor|Sizes of tensors must match
          |Incompatible shapes|Dimensions must be equal|Given groups=|The expanded size of the tensor|shape '|Shapes? (?:must|\()).{0,160})
  found   tensors in the script have shapes that do not fit ({what})
  fix     check benchmark_options.model and benchmark_options.batch_size against the sizes that the script's model and data have
ddp_unused
  pattern (?P<what>Expected to have finished reduction in the prior iteration|Expected to mark a variable ready only once)
  found   the script's model has parameters that a step does not use, or uses twice ({what})
  fix     pass find_unused_parameters=True to DistributedDataParallel in the script, or remove the parameters
data_loader
  pattern (?P<what>DataLoader worker \(pid.{1,200}?\) exited unexpectedly.{0,60}|DataLoader timed out after.{0,30}
          |Pin memory thread exited unexpectedly|Unexpected segmentation fault encountered in worker)
  found   a data loader's process ended ({what})
  fix     run with num_workers 0 in the script to see its error; look for oom-kill in the host's dmesg, and set training_container_shm_size
          to a larger size
build
  pattern (?P<what>Ninja is required to load C\+\+ extensions|Error building extension '[^']+'|CUDA_HOME environment variable is not set
          |nvcc fatal.{1,120}|The detected CUDA version \([^)]+\) mismatches.{0,120})
  found   the script builds an extension, which failed ({what})
  fix     use a taco_image with ninja, a compiler and the CUDA toolkit of the framework's version, or with the extension built in
permission
  pattern PermissionError: \[Errno 13\] Permission denied: '(?P<path>[^']+)'|PermissionDeniedError: (?P<path2>/\S{1,200}); Permission denied
  found   a rank may not write or read {path}
  fix     change the owner of the folder on the host, or run the container as a user that may use it
file_absent
  pattern (?:FileNotFoundError|IOError|NotADirectoryError): \[Errno \d+\] (?:No such file or directory
          |Not a directory): '(?P<path>[^']*/[^']*)'|NotFoundError: (?P<path2>/\S{1,200}); No such file or directory
          |FileNotFoundError: No such file or directory: "?(?P<path3>/[^"]{1,300})
  found   a rank finds no {path}
  fix     <<FOLDER>>
# Of safetensors. The path may stand in the next line.
file_absent
  pattern FileNotFoundError: No such file or directory:?\s*$
  found   a rank finds no file {path}
  fix     <<FOLDER>>
  near    ^"?(?P<path>/[^"\r\n]{1,300})
""",
    ERROR=ERROR,
    FOLDER=FOLDER,
)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes in the file systems of a host, and in the memory of a host, of a job and of a GPU, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

# PyTorch's writer of checkpoints has no word for why the system did not write.
CHECKPOINT = r"(?P<what>PytorchStreamWriter failed (?:writing|closing).{0,80}|inline_container\.cc\S* ?\.? unexpected pos.{0,60})"
STORAGE = table(
    r"""
storage
  pattern (?P<what>Stale (?:NFS )?file handle|\[Errno 116\].{0,40})(?:: '?(?P<path>/[^']{1,300}))?
  found   a file of a network file system was removed or replaced on the server while a rank had it open, or its export changed: {what}
          {path}
  fix     mount the folder again on this host (umount -l, then mount; findmnt shows it), and see that no other run or host removes files
          there; put caches that every rank writes, such as those of data sets, on a local disk
storage
  pattern \[Errno (?:5|107)\] |nfs: server \S+ not responding|(?:EXT4-fs|XFS|BTRFS)\S* error
          |^(?!.*(?:UCX|ucx|NCCL|NET/|libfabric|fi_|ibv_|mlx5)).*(?:Input/output error|Transport endpoint is not connected|Remote I/O error
          |Cannot send after transport endpoint shutdown|Read-only file system)|LustreError:[ ]
  found   a file system failed
  fix     look at the mounts and at dmesg of the host
disk
  pattern (?P<what>Disk quota exceeded(?:: '[^']{1,200}')?|EDQUOT)
  found   a user's or a project's quota of a file system is used up ({what})
  fix     see the quota (quota -s, lfs quota) and remove files or have it raised; the disk itself may have space: else set
          benchmark_options.chdir to a folder on another file system
  fields  <<NODE>>
disk
  pattern [Nn]o space left on device|ENOSPC|disk is full|write error: no space
  found   a disk is full
  fix     free space on the hosts (df -h, docker system df), or set benchmark_options.chdir to a folder on another disk
  fields  <<NODE>>
# A row of df. Images of snap are always full.
disk
  pattern <<CHECKPOINT>>
  found   a checkpoint can't be written, as the file system at {mount} is full ({what})
  fix     free space at {mount}, keep fewer checkpoints, or write them to another file system
  context ^(?!/dev/loop|overlay |squashfs )\S+ +\S+ +\S+ +\S+ +100% +(?P<mount>/(?!snap)\S*)
disk
  pattern <<CHECKPOINT>>
  found   a checkpoint can't be written: its file system is most likely full, or its quota is used up ({what})
  fix     see df -h and quota -s for the folder of the checkpoints; keep fewer of them, or write them to another file system
""",
    CHECKPOINT=CHECKPOINT,
)
GPU_MEMORY = (
    r"CUDA out of memory|OutOfMemoryError|OOM when allocating|ResourceExhaustedError|RESOURCE_EXHAUSTED|(?:cuda|CUDA|Cuda)(?: |_|"
    r"Malloc )?(?:error|failure|failed|retry failed|runtime error)\b.{0,60}out of memory|CUBLAS_STATUS_ALLOC_FAILED|"
    r"CUDNN_STATUS_ALLOC_FAILED|cudaErrorMemoryAllocation|cudaMalloc .{0,40}out of memory|ran out of memory trying to allocate|"
    r"Failed to CUDA (?:malloc|calloc|host alloc)|out of memory: tried to allocate|CUDA_ERROR_OUT_OF_MEMORY|Status: out of memory|"
    r"Dst tensor is not initialized|CUDA error 2\b"
)
MEMORY = table(
    r"""
gpu_memory
  pattern <<GPU_MEMORY>>
  found   a GPU's memory is full
  fix     set benchmark_options.max_bytes (-e of nccl-tests) to a smaller size, and end other programs on the GPU (nvidia-smi)
  context ^\s{0,4}(?:# ?)?nThread \d+ nGpus \d|: Test (?:NCCL|CUDA|HIP) failure \S+\.cu:
# A row of nvidia-smi, whose columns are the GPU, the process and its memory.
gpu_memory
  pattern <<GPU_MEMORY>>
  found   a GPU's memory is full, and nvidia-smi lists process {process} ({program}) with {memory} on it
  fix     end process {process} where it is not of this run (kill {process}); else set benchmark_options.batch_size to a smaller number
  context ^\| +\d+ +(?:(?:N/A|\d+) +(?:N/A|\d+) +)?(?P<process>\d+) +C(?:\+G)? +(?P<program>\S[^|]{0,80}?) +(?P<memory>\d{4,6}MiB) *\|
# PyTorch's word of another process on the GPU, before that of its own.
gpu_memory
  pattern <<GPU_MEMORY>>
  found   a GPU's memory is full, and another process ({process}) has {memory} of it
  fix     end process {process} where it is not of this run (nvidia-smi), and see that each rank has a GPU of its own; else set
          benchmark_options.batch_size to a smaller number
  context \bProcess (?P<process>\d+) has (?P<memory>(?:[1-9]\d
          |[2-9])(?:\.\d+)? GiB) memory in use\. Including non-PyTorch memory, this process has|this process has [\d.]+ \wiB memory in use
          \. Process (?P<process2>\d+) has (?P<memory2>(?:[1-9]\d|[2-9])(?:\.\d+)? GiB) memory in use\.
# Of the driver and not of PyTorch's allocator, which says how much it tried to allocate.
gpu_memory
  pattern ^(?:[\w.]+: )?RuntimeError: CUDA error: out of memory
  found   a GPU's memory is full before the script takes its own: most likely another process has it
  fix     end other programs on that GPU, such as those of an earlier run (nvidia-smi), and see that each rank has a GPU of its own; if
          nothing has its memory, reset the GPU or run without the host; else set benchmark_options.batch_size to a smaller number
  context distributed\.(?:barrier|init_process_group)\(|in (?:barrier|init_process_group|_lazy_init|set_device|new_group)$
          |torch\.cuda\.set_device\(
gpu_memory
  pattern <<GPU_MEMORY>>
  found   a GPU's memory is full
  fix     <<BATCH>>
memory_locked
  pattern (?:ibv_reg_mr|create \w+ CQ|ibv_create_cq|ibv_create_qp|ibv_reg_dmabuf_mr|fi_mr_reg\w*
          |memory registration)(?!.*(?:Bad address|Invalid argument|not supported)).{0,60}(?:Cannot allocate memory|failed)|RLIMIT_MEMLOCK
          |max locked memory(?!.*unlimited)|allowed to lock|openib BTL failed to .{0,20}register|allocate some locked memory|memlock limits
  found   the limit of locked memory is too small for RDMA or HARP
  fix     leave memlock=-1 in training_container_ulimits; if ulimit -l in the container prints unlimited, load nvidia_peermem for the memory
          of GPUs, and use fewer ranks for each adapter
  fields  <<NODE>>
# Of libfabric and UCX. Other errors of a registration are those of the GPU's memory.
memory_locked
  pattern (?P<what>(?:(?:[Uu]nable|[Ff]ailed) to|[Cc]ould ?n[o']t|[Cc]an(?:not|'t)) (?:register|pin) .{1,120}?(?:Cannot allocate memory
          |ENOMEM\b|RC: -?12\b)|\b(?:memory registration|fi_mr_reg\w{0,30}|ibv_reg_\w{1,30}).{1,120}?(?:Cannot allocate memory|ENOMEM\b))
  found   memory can't be registered for RDMA: the limit of locked memory or of the adapter's registrations is reached ({what})
  fix     leave memlock=-1 in training_container_ulimits (ulimit -l in the container prints unlimited); else use fewer ranks and channels
          for each adapter
# The limit of the job, whatever the host has.
memory
  pattern (?P<what>oom[-_]kill event(?:\(s\))? in (?:StepId=|[Ss]tep )[\w.+]{1,60})
          |slurmstepd: error: (?P<what2>.{0,60}[Ee]xceeded (?:\w+ )?memory limit.{0,60})
  found   the memory limit of the Slurm job or step is reached ({what})
  fix     request more memory for the job (--mem, where 0 is all of a host, --mem-per-cpu or --mem-per-gpu), or use fewer data loader
          workers or ranks for each host
memory
  pattern oom-kill|OOMKilled|OOM Killed|[Oo]ut of memory: Kill|oom_reaper|[Oo]ut[ -][Oo]f[ -][Mm]emory handler|cgroup out-of-memory
          |MemoryError|std::bad_alloc|Cannot allocate memory|[Uu]nable to allocate .{0,60}(?:array|bytes)|is killed by signal: Killed
          |DefaultCPUAllocator: (?:can't|not enough)|[Ee]xceeded (?:job |step )?memory limit
  found   the host's memory, or the container's limit, is full
  fix     use hosts with more memory, or fewer huge pages (hugepages_count), slots or data loader workers
""",
    GPU_MEMORY=GPU_MEMORY,
)

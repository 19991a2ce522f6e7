# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes in the memory of a host, of a job and of a GPU, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import BATCH, NODE, cause

GPU_MEMORY = (
    "gpu_memory",
    r"CUDA out of memory|OutOfMemoryError|OOM when allocating|ResourceExhaustedError|RESOURCE_EXHAUSTED|(?:cuda|CUDA|Cuda)(?: |_|Malloc "
    r")?(?:error|failure|failed|retry failed|runtime error)\b.{0,60}out of memory|CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED|"
    r"cudaErrorMemoryAllocation|cudaMalloc .{0,40}out of memory|ran out of memory trying to allocate|Failed to CUDA (?:malloc|calloc|host "
    r"alloc)|out of memory: tried to allocate|CUDA_ERROR_OUT_OF_MEMORY|Status: out of memory|Dst tensor is not initialized|CUDA error 2\b",
)
MEMORY = [
    cause(
        *GPU_MEMORY,
        "a GPU's memory is full",
        "set benchmark_options.max_bytes (-e of nccl-tests) to a smaller size, and end other programs on the GPU (nvidia-smi)",
        context=r"^\s{0,4}(?:# ?)?nThread \d+ nGpus \d|: Test (?:NCCL|CUDA|HIP) failure \S+\.cu:",
    ),
    cause(
        # A row of nvidia-smi, whose columns are the GPU, the process and its memory.
        *GPU_MEMORY,
        "a GPU's memory is full, and nvidia-smi lists process {process} ({program}) with {memory} on it",
        "end process {process} where it is not of this run (kill {process}); else set benchmark_options.batch_size to a smaller number",
        context=r"^\| +\d+ +(?:(?:N/A|\d+) +(?:N/A|\d+) +)?(?P<process>\d+) +C(?:\+G)? +(?P<program>\S[^|]{0,80}?) +"
        r"(?P<memory>\d{4,6}MiB) *\|",
    ),
    cause(
        # PyTorch's word of another process on the GPU, before that of its own.
        *GPU_MEMORY,
        "a GPU's memory is full, and another process ({process}) has {memory} of it",
        "end process {process} where it is not of this run (nvidia-smi), and see that each rank has a GPU of its own; else set "
        "benchmark_options.batch_size to a smaller number",
        context=r"\bProcess (?P<process>\d+) has (?P<memory>(?:[1-9]\d|[2-9])(?:\.\d+)? GiB) memory in use\. "
        r"Including non-PyTorch memory, this process has|this process has [\d.]+ \wiB memory in use\. "
        r"Process (?P<process2>\d+) has (?P<memory2>(?:[1-9]\d|[2-9])(?:\.\d+)? GiB) memory in use\.",
    ),
    cause(
        # Of the driver and not of PyTorch's allocator, which says how much it tried to allocate.
        "gpu_memory",
        r"^(?:[\w.]+: )?RuntimeError: CUDA error: out of memory",
        "a GPU's memory is full before the script takes its own: most likely another process has it",
        "end other programs on that GPU, such as those of an earlier run (nvidia-smi), and see that each rank has a GPU of its own; if "
        "nothing has its memory, reset the GPU or run without the host; else set benchmark_options.batch_size to a smaller number",
        context=r"distributed\.(?:barrier|init_process_group)\(|in (?:barrier|init_process_group|_lazy_init|set_device|new_group)$|"
        r"torch\.cuda\.set_device\(",
    ),
    cause(*GPU_MEMORY, "a GPU's memory is full", BATCH),
    cause(
        "memory_locked",
        r"(?:ibv_reg_mr|create \w+ CQ|ibv_create_cq|ibv_create_qp|ibv_reg_dmabuf_mr|fi_mr_reg\w*|"
        r"memory registration)(?!.*(?:Bad address|Invalid argument|not supported)).{0,60}(?:Cannot allocate memory|failed)|RLIMIT_MEMLOCK|"
        r"max locked memory(?!.*unlimited)|allowed to lock|openib BTL failed to .{0,20}register|allocate some locked memory|memlock limits",
        "the limit of locked memory is too small for RDMA or HARP",
        "leave memlock=-1 in training_container_ulimits; if ulimit -l in the container prints unlimited, load nvidia_peermem for the "
        "memory of GPUs, and use fewer ranks for each adapter",
        fields=NODE,
    ),
    cause(
        # Of libfabric and UCX. Other errors of a registration are those of the GPU's memory.
        "memory_locked",
        r"(?P<what>(?:(?:[Uu]nable|[Ff]ailed) to|[Cc]ould ?n[o']t|[Cc]an(?:not|'t)) (?:register|pin) .{1,120}?(?:Cannot allocate memory|"
        r"ENOMEM\b|RC: -?12\b)|\b(?:memory registration|fi_mr_reg\w{0,30}|ibv_reg_\w{1,30}).{1,120}?(?:Cannot allocate memory|ENOMEM\b))",
        "memory can't be registered for RDMA: the limit of locked memory or of the adapter's registrations is reached ({what})",
        "leave memlock=-1 in training_container_ulimits (ulimit -l in the container prints unlimited); else use fewer ranks and "
        "channels for each adapter",
    ),
    cause(
        # The limit of the job, whatever the host has.
        "memory",
        r"(?P<what>oom[-_]kill event(?:\(s\))? in (?:StepId=|[Ss]tep )[\w.+]{1,60})|"
        r"slurmstepd: error: (?P<what2>.{0,60}[Ee]xceeded (?:\w+ )?memory limit.{0,60})",
        "the memory limit of the Slurm job or step is reached ({what})",
        "request more memory for the job (--mem, where 0 is all of a host, --mem-per-cpu or --mem-per-gpu), or use fewer data loader "
        "workers or ranks for each host",
    ),
    cause(
        "memory",
        r"oom-kill|OOMKilled|OOM Killed|[Oo]ut of memory: Kill|oom_reaper|[Oo]ut[ -][Oo]f[ -][Mm]emory handler|cgroup "
        r"out-of-memory|MemoryError|std::bad_alloc|Cannot allocate memory|[Uu]nable to allocate .{0,60}(?:array|"
        r"bytes)|is killed by signal: Killed|DefaultCPUAllocator: (?:can't|not enough)|[Ee]xceeded (?:job |step )?memory limit",
        "the host's memory, or the container's limit, is full",
        "use hosts with more memory, or fewer huge pages (hugepages_count), slots or data loader workers",
    ),
]

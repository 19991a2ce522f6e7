# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Errors of CUDA by their texts and names, each with its own fix. Those of memory, drivers and broken GPUs are in other lists."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

# Before an error's text, its name in the runtime or its name in the driver, as CUDA, NCCL, nccl-tests and frameworks print it.
NAMED = r"(?i:cuda|\bhip\b)(?:.{0,200}?(?<![a-z])|)"
KERNELS = (
    r"no kernel image is available for execution|is not compatible with the current PyTorch installation|CUDA_ERROR_NO_BINARY_FOR_GPU|"
    r"Unsupported gpu architecture|invalid device function|(?:device )?kernel image is invalid|invalid (?:kernel file|device image)|"
    r"hipError(?:InvalidKernelFile|NoBinaryForGpu|InvalidDeviceFunction|InvalidImage|SharedObjectInitFailed)|"
    r"Unable to find code object for all current devices|\bCannot read \S{1,200}TensileLibrary\S{0,80}"
)
FEWER_GPUS = "a host has fewer GPUs than ranks ({want} requested, {have} found)"
FEWER_GPUS_FIX = "set the slots in benchmark_hosts or taco_gpus_per_node to the GPUs that the container has"
SEVERAL_GPUS = "each rank takes {each} GPUs (-g {each}), and a host has fewer than its ranks take"
SEVERAL_GPUS_FIX = "use -g 1 with a rank for each GPU, or -g with the GPUs of a host and one rank on each host"
ARCHITECTURE = table(
    r"""
architecture
  pattern <<KERNELS>>
  found   the program's code is for {built}, and the GPU runs as {device}
  fix     where they differ in xnack only, set HSA_XNACK: 1 in benchmark_env for xnack+ (0 for xnack-), or build without xnack
          (--offload-arch, AMDGPU_TARGETS); else build for this GPU
  near    (?P<device>gfx\w{2,6}(?::\w+[+-])*) - \[Not Found\]
  context \[code object \S+ is \S*?(?P<built>gfx\w{2,6}(?::\w+[+-])*:xnack[+-])
architecture
  pattern <<KERNELS>>
  found   ROCm's libraries in the image, such as RCCL, have no kernels for this GPU
  fix     use a taco_image whose ROCm, RCCL and framework support this GPU (rocminfo prints its gfx name), or build them for it
          (AMDGPU_TARGETS, PYTORCH_ROCM_ARCH); the driver must fit that ROCm
  context RCCL version|\bhip[A-Z]\w+|\bHIP (?:error|failure)|(?i:\brocm\b|hipify|\brccl|radeon|\bgfx\d)|AMD Instinct
architecture
  pattern <<KERNELS>>
  found   the program was not built for this GPU's architecture
  fix     use a taco_image whose framework supports this GPU, as do its NCCL and extensions (TORCH_CUDA_ARCH_LIST for those built there)
""",
    KERNELS=KERNELS,
)
GPU_INDEX = table(
    r"""
gpu_index
  pattern (?:Test (?:CUDA|HIP)|Cuda) failure .{0,80}invalid device ordinal
  found   <<SEVERAL_GPUS>>
  fix     <<SEVERAL_GPUS_FIX>>
  context ^(?:# ?)? ?nThread \d+ nGpus (?P<each>[2-9]|\d\d+)[ ]
gpu_index
  pattern (?:Test (?:CUDA|HIP)|Cuda) failure .{0,80}invalid device ordinal
  found   <<FEWER_GPUS>>
  fix     <<FEWER_GPUS_FIX>>
  context ^(?:# ?)? ?nThread \d+ nGpus 1[ ]
gpu_index
  pattern (?:Test (?:CUDA|HIP)|Cuda) failure .{0,80}invalid device ordinal
  found   <<SEVERAL_GPUS>>
  fix     <<SEVERAL_GPUS_FIX>>
  context \w_perf\b.{0,600}?\s(?:-g|--ngpus)[ =]?(?P<each>[2-9]|\d\d+)(?!\S)
""",
    FEWER_GPUS=FEWER_GPUS,
    FEWER_GPUS_FIX=FEWER_GPUS_FIX,
    SEVERAL_GPUS=SEVERAL_GPUS,
    SEVERAL_GPUS_FIX=SEVERAL_GPUS_FIX,
)
CUDA = table(
    r"""
# Its reductions run on the CPU.
segfault
  pattern Signal: Segmentation fault|Caught signal 11\b
  found   a rank crashed in a non-blocking collective operation of Open MPI (libnbc), which reads and writes memory of the host only: most
          likely its buffers are in a GPU's memory
  fix     use blocking operations (MPI_Allreduce), NCCL, or buffers in the host's memory for MPI_Iallreduce and its like; else an MPI whose
          coll component takes memory of GPUs (ucc, hcoll)
  context \(NBC_\w+\+0x|\bompi_coll_libnbc_progress\b|mca_coll_libnbc
test_cuda
  pattern <<NAMED>>(?P<why>initialization error|ErrorInitializationError|_ERROR_NOT_INITIALIZED)
  found   CUDA can't be initialised in a process ({why})
  fix     check nvidia-smi on the host and in the container, and nvidia-fabricmanager where GPUs have NVSwitch; let the script use CUDA only
          after it starts its processes, or start them by spawn
test_cuda
  pattern <<NAMED>>(?P<why>(?:MPS|mps) (?:client|server)[^']{0,80}|between the MPS server[^']{0,60}|Error(?:Mps|MPS)\w+|_ERROR_MPS_\w+)
  found   the MPS server of the host does not serve a process ({why})
  fix     start nvidia-cuda-mps-control on the host again, as the user of the ranks, and mount its folder CUDA_MPS_PIPE_DIRECTORY into the
          container; or end it and unset CUDA_MPS_*
test_cuda
  pattern <<NAMED>>(?P<why>operation not supported(?! on (?:global|this OS))|ErrorNotSupported\b|_ERROR_NOT_SUPPORTED\b)
  found   the GPU, its driver or a virtual machine lacks what the program calls ({why})
  fix     set NCCL_CUMEM_ENABLE: 0, NCCL_NVLS_ENABLE: 0 and NCCL_P2P_DISABLE: 1 one at a time in benchmark_env (a vGPU or MIG device has no
          peers and no IPC), and compare the driver with the CUDA of taco_image
test_cuda
  pattern <<NAMED>>(?P<why>(?:the )?launch timed out and was terminated|ErrorLaunchTimeout|_ERROR_LAUNCH_TIMEOUT)
  found   a kernel ran longer than the driver allows on a GPU ({why})
  fix     use GPUs that serve no display, or less work for each kernel (benchmark_options.batch_size); look for Xid 8 in the host's dmesg
test_cuda
  pattern <<NAMED>>(?P<why>invalid resource handle|invalid device context|context is destroyed|ErrorInvalidResourceHandle
          |_ERROR_(?:INVALID_(?:HANDLE|CONTEXT)|CONTEXT_IS_DESTROYED)\b)
  found   a stream, an event or memory of another device or of an ended process is used ({why})
  fix     call torch.cuda.set_device(local_rank) before any other use of CUDA in the script, start processes by spawn, and destroy the
          process group at its end
test_cuda
  pattern <<NAMED>>(?P<why>too many resources requested for launch|invalid configuration argument|too many blocks in cooperative launch
          |Error(?:LaunchOutOfResources|InvalidConfiguration|CooperativeLaunchTooLarge)|_ERROR_LAUNCH_OUT_OF_RESOURCES)
  found   the launch of a kernel does not fit the GPU ({why})
  fix     check the sizes that the script passes (empty tensors, a batch of 0, very many rows), and build extensions for this GPU's
          architecture (TORCH_CUDA_ARCH_LIST)
test_cuda
  pattern <<NAMED>>(?P<why>named symbol not found|shared object symbol not found|ErrorSymbolNotFound|_ERROR_NOT_FOUND\b
          |PTX JIT compil\w+[^']{0,40}|invalid (?:kernel image|source))
  found   a library of CUDA does not fit the driver or the GPU ({why})
  fix     use a driver as new as the CUDA of taco_image, libraries that are built for this GPU, and no other CUDA in LD_LIBRARY_PATH of
          benchmark_env
test_cuda
  pattern <<NAMED>>(?P<why>OS call failed[^']{0,60}|ErrorOperatingSystem|_ERROR_OPERATING_SYSTEM|\bunknown error|ErrorUnknown\b
          |_ERROR_UNKNOWN\b)
  found   the driver failed without a reason ({why})
  fix     look for Xid in the host's dmesg; start the training container again, which then has all of /dev/nvidia* (/dev/nvidia-uvm), load
          nvidia_uvm again or reboot the host
test_cuda
  pattern <<NAMED>>(?P<why>operation not permitted when stream is capturing|operation failed due to a previous error during capture
          |_ERROR_STREAM_CAPTURE_\w+|ErrorStreamCapture\w+)
  found   the script calls what a CUDA graph can't capture ({why})
  fix     switch CUDA graphs off in the script, or capture only what has no synchronisation and no new communicator
""",
    NAMED=NAMED,
)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes on a host: HARP, drivers, GPUs and memory, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table
from ansible_collections.taco.train.plugins.plugin_utils.failure.cuda import (
    ARCHITECTURE,
    FEWER_GPUS,
    FEWER_GPUS_FIX,
    GPU_INDEX,
)
from ansible_collections.taco.train.plugins.plugin_utils.failure.memory import MEMORY, STORAGE

SOFTWARE = [
    *table(r"""
harp_config
  pattern ztcp\*?\.conf|ztcp config|harp config
  found   HARP found no configuration
  fix     run the harp role (playbook prepare)
hugepage_files
  pattern Couldn't get fd on hugepage file|EAL: .{0,60}Cannot open '[^']*huge
  found   HARP can't create files in the mount of the huge pages, and no pages of {size} kB are free
  fix     set training_container_profile: harp (on Kubernetes leave /dev/hugepages in mpijob_mounts), and check that the mount is writable
          and has pages of the size hugepages_page_size (findmnt -t hugetlbfs, HugePages_Free in /proc/meminfo)
  context EAL: No (?:available|free) .{0,60}?hugepages-(?P<size>\d+)kB
# Pages are free, and their files can't be made.
hugepage_files
  pattern Couldn't get fd on hugepage file|EAL: .{0,60}(?:Cannot open '[^']*huge|no mounted hugetlbfs)
          |(?i:hugetlbfs|hugepages?).{0,80}(?:permission denied|read-only file system)
  found   HARP can't create files in the mount of the huge pages
  fix     set training_container_profile: harp (on Kubernetes leave /dev/hugepages in mpijob_mounts), and check that the mount is writable
          (findmnt -t hugetlbfs)
hugepages
  pattern (?i)EAL: (?=.*(?:fail|can.?not|can't|could ?n.t|error|not enough|no free|no available)).*(?:hugepage|huge page|hugetlb)
          |(?:cannot|can't|could ?n.t|unable to|failed to|no free|not enough|no available|insufficient) (?:\w+ ){0,4}(?:hugepages?
          |huge pages?|hugetlb)|(?:hugepages?|huge pages?|hugetlb).{0,40}(?:not enough|unavailable|not mounted|not available|exhausted
          |failed|insufficient)|MAP_HUGETLB
  found   HARP found no free huge pages
  fix     run the hugepages and reboot roles (playbook prepare), and look at HugePages_Free in /proc/meminfo
# The kernel runs another version than the one of the files.
driver
  pattern [Dd]river/library version mismatch|API mismatch: the client has the version|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
          |unsupported display driver / cuda driver combination
  found   the host's NVIDIA driver was updated without a reboot: its libraries and its kernel module have different versions
  fix     reboot the host, or stop all programs on its GPUs and load the modules of nvidia again; then restart the training container,
          without CUDA's folder compat in LD_LIBRARY_PATH
driver
  pattern CUDA Driver version found is \d+\. Minimum requirement|CUDA driver version is insufficient|NVIDIA driver on your system is too old
          |forward compatibility was attempted on non supported HW|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE|unsatisfied condition: cuda
          |the provided PTX was compiled with an unsupported toolchain|driver too old|API call is not supported in the installed CUDA driver
  found   the host's NVIDIA driver is too old for the CUDA version in the image
  fix     <<DRIVER>>
# Error 34 of CUDA.
driver_stub
  pattern CUDA driver is a stub library|CUDA_ERROR_STUB_LIBRARY|cudaErrorStubLibrary|cuInit: UNKNOWN ERROR \(34\)
  found   a rank loaded the stub of libcuda, which comes with CUDA for builds, and not the driver
  fix     leave lib64/stubs of CUDA out of LD_LIBRARY_PATH in benchmark_env and in taco_image
cudnn
  pattern Loaded runtime CuDNN library: (?P<loaded>[\d.]+\d) but source was compiled with: (?P<built>[\d.]+\d)
  found   cuDNN can't be used: version {loaded} is loaded, and the framework was built for {built}
  fix     install the cuDNN that the framework was built for, or a newer one of that major version in taco_image, and remove others from
          LD_LIBRARY_PATH
cudnn
  pattern (?P<what>CUDNN_STATUS_(?:NOT_INITIALIZED|VERSION_MISMATCH|SUBLIBRARY_\w+|ARCH_MISMATCH|INTERNAL_ERROR\w*|EXECUTION_FAILED
          |NOT_SUPPORTED|MAPPING_ERROR|BAD_PARAM))|CUDNN_STATUS_SUCCESS \(\d|DNN library is not found|because cuDNN failed to initialize
          |unable to find an engine to execute this computation|[Uu]nable to find a valid cuDNN algorithm|No DNN in stream executor
          |Could not create cudnn handle
  found   cuDNN can't be used ({what}): another version than the framework was built for, or a full GPU
  fix     use the cuDNN that the framework in taco_image was built for, and end other programs on the GPU
# Its handle is made at the first call: the GPU is full, or an earlier kernel has failed.
cublas
  pattern (?P<what>CUBLAS_STATUS_NOT_INITIALIZED)
  found   cuBLAS can't start on a GPU ({what}): its memory is full, an earlier kernel failed, or libraries of two versions are mixed
  fix     run with a smaller benchmark_options.batch_size first and see nvidia-smi for other programs; else with CUDA_LAUNCH_BLOCKING: 1 in
          benchmark_env to find an earlier error (labels or indices out of range), and without other CUDA libraries in LD_LIBRARY_PATH
cublas
  pattern failed to run cuBLAS routine|Blas \w+ launch failed
          |CUBLAS_STATUS_(?P<status>EXECUTION_FAILED|NOT_SUPPORTED|ARCH_MISMATCH|INTERNAL_ERROR)
  found   cuBLAS failed on a GPU ({status})
  fix     use a taco_image whose CUDA supports this GPU (an A100 needs CUDA 11), and end other programs on the GPU (nvidia-smi)
cublas
  pattern (?P<what>CUBLAS_STATUS_INVALID_VALUE.{0,80})
  found   a call of cuBLAS has arguments that do not fit ({what}): the shapes, or two versions of cuBLAS are mixed
  fix     leave other CUDA libraries out of LD_LIBRARY_PATH in benchmark_env (pip's nvidia-cublas and the image's), then check the shapes
"""),
    *ARCHITECTURE,
    *table(r"""
fabric_manager
  pattern system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY|\b802\b.{0,40}cuda|cuda.{0,60}error 802
  found   the GPUs' NVLink fabric is not initialised
  fix     start nvidia-fabricmanager of the driver's version on the host
# NCCL's multicast over NVSwitch, which fails after the fabric manager alone was started again.
nvls
  pattern transport/nvls\.cc\S* (?:NCCL )?WARN (?P<what>.{1,160})
  found   NVLink SHARP (NVLS) failed on a host ({what})
  fix     reboot the host, or reset its GPUs and start nvidia-fabricmanager again; or set NCCL_NVLS_ENABLE: 0 in benchmark_env
# The driver's own word of what is wrong. Xid 13, 31, 43, 45 and 69 follow from a program's error.
gpu_broken
  pattern (?P<what>NVRM: Xid (?:\([^)]{1,40}\))?:? (?!(?:13|31|43|45|69)\b)\d+.{0,160}|GPU has fallen off the bus)
  found   a GPU has a hardware fault ({what})
  fix     take the host out, reset the GPU or power-cycle the host, and check the GPU's seat, power, cooling and PCIe link; replace the GPU
          if it comes back
gpu_broken
  pattern uncorrectable (?:NVLink|ECC) error|uncorrectable ECC|CUDA_ERROR_ECC_UNCORRECTABLE|GPU (?:is lost|has fallen off the bus)
          |fallen off the bus|nvlink error|NVLink.{0,20}uncorrectable|hardware stack error|Unable to determine the device handle for GPU
  found   a GPU has a hardware fault
  fix     <<HARDWARE>>
# Docker's GPUs are gone after systemd has set the cgroups of all units again.
no_gpu
  pattern Failed to initialize NVML: Unknown Error
  found   a container lost its GPUs, or may not use them
  fix     start the training container again (role training_container); if it comes back, use the cgroup driver cgroupfs or give the
          container its devices (/dev/nvidia*), and check nvidia-smi on the host
no_gpu
  pattern Failed to find CUDA library|no CUDA-capable device|no supported devices found for platform CUDA
          |failed call to cuInit: (?!UNKNOWN ERROR \(303\))|No devices were found|Failed to initialize NVML: (?!Driver/library)
          |Found no NVIDIA driver|CUDA_ERROR_NO_DEVICE|No CUDA GPUs are available|NVIDIA-SMI has failed
          |couldn't communicate with the NVIDIA driver|kernel driver does not appear to be running|CUDA is not available
          |[Nn]o GPU(?:s)? (?:found|detected|available|visible)|libcuda(?:\.so\S*)?: cannot open|CUDA driver initialization failed
          |CUDA unknown error - this may be|on a CUDA device but torch\.cuda\.is_available\(\) is False|only supports (?:the )?NHWC
          |explicitly assigned to /device:GPU:\d+ but available devices are \[(?!.*device:GPU:\d)
  found   a rank has no GPU
  fix     <<GPUS>>
"""),
    *GPU_INDEX,
    *table(
        r"""
gpu_index
  pattern invalid device ordinal|Invalid number of GPUs: (?P<want>\d+) requested but only (?P<have>\d+)
          |[Vv]isible_device_list'? listed an invalid|CUDA_ERROR_INVALID_DEVICE\b|invalid resource handle.{0,20}device ordinal
          |IndexError: list index out of range at .*local_rank\(\)|AssertionError: Invalid device id
          |device >= 0 && device < num_gpus|explicitly assigned to /device:GPU:\d+ but available devices are \[.*device:GPU:\d
          |on CUDA device \d+ but torch\.cuda\.device_count\(\) is (?P<have2>\d+)
  found   <<FEWER_GPUS>>
  fix     <<FEWER_GPUS_FIX>>
gpu_busy
  pattern Duplicate GPU detected : rank (?P<rank>\d+) and rank (?P<other>\d+)
  found   two processes use one GPU (rank {rank} and {other})
  fix     start one rank for each GPU of a host (slots in benchmark_hosts, --nproc_per_node), and take the GPU of the local rank in the
          script
gpu_busy
  pattern Multiple Ranks are using the same GPU|CUDA-capable device\(s\) is/are busy|all CUDA-capable devices are busy
          |CUDA_ERROR_DEVICE_UNAVAILABLE|exclusive[- ]process
  found   a GPU is in the compute mode Exclusive_Process with another process on it, or can't be used
  fix     end other programs on the GPU (nvidia-smi), set its compute mode to Default (nvidia-smi -c 0), and see that each rank has a GPU of
          its own (one slot for each GPU in benchmark_hosts); if that is so, look for Xid in the host's dmesg and reset the GPU
shm_gone
  pattern (?:attaching to shared memory segment|unable to open shared memory object) .{0,120}No such file
  found   another rank's shared memory in /dev/shm was gone: that rank ended, or runs in another container
  fix     look at what the other ranks of that host print, and run all ranks of a host in one container
shm_denied
  pattern shm_open.{0,80}failed ?: ?Permission denied|/dev/shm/\S+.{0,80}Permission denied
  found   a rank may not create files in /dev/shm, or a file of another user is in its place
  fix     run all ranks of a host as one user, and remove files that other users left in /dev/shm (nccl-*, vader_*)
shm_size
  pattern posix_fallocate failed|Error(?: while)? (?:creating|attaching to|: ).{0,30}shared memory segment|/dev/shm/\S+.{0,80}No space left
          |No space left on device.{0,80}(?:/dev/shm|SemLock)|unable to (?:mmap|write to) .{0,60}file </torch_
          |unable to (?:open|write to|resize|allocate) shared memory(?!.*Too many open)|insufficient shared memory
          |DataLoader worker .{0,40}(?:Bus error|SIGBUS)|shared memory \(shm\)|shm_open.{0,80}failed|space.{0,40}shared memory backing
          |not enough space for (?:the )?(?:shared memory|/dev/shm)
  found   the container's /dev/shm is full
  fix     <<SHM>>
bus_error
  pattern Bus error|SIGBUS|exitcode *: -7\b|(?i:exit code):? +135\b|[Ss]ignal(?:: | code: | )7\b|KILLED BY SIGNAL: 7
  found   a rank ended with a bus error, which a full /dev/shm or huge page pool causes
  fix     <<SHM>>; see that huge pages are free (HugePages_Free), and that no file which is mapped into memory was cut or its disk is full
  near    process rank (?P<rank>\d+) with PID \S+ on node (?P<host>\S+) exited\s+on\s+signal 7
processes
  pattern can't start new thread|pthread_create failed|fork: .{0,40}Resource temporarily unavailable
          |what\(\): +Resource temporarily unavailable|Cannot fork|BlockingIOError: \[Errno 11\]
  found   a host or container has no more processes or threads to give
  fix     set nproc in training_container_ulimits and the container's limit of processes (pids) to larger numbers, or use fewer data loader
          workers
open_files
  pattern Too many open files|EMFILE|received 0 items of ancdata
  found   a process has no more files to open
  fix     set nofile in training_container_ulimits to a larger number
""",
        FEWER_GPUS=FEWER_GPUS,
        FEWER_GPUS_FIX=FEWER_GPUS_FIX,
    ),
    *STORAGE,
    *MEMORY,
    *table(r"""
device_assert
  pattern \.cu[h]?:\d+: .{1,300}?Assertion [`'](?P<assertion>.{1,100}?)[`'] failed|device-side assert triggered|CUDA_ERROR_ASSERT
  found   an assertion in a GPU kernel failed ({assertion})
  fix     check the indices that the script passes, such as labels against the number of classes; run with CUDA_LAUNCH_BLOCKING: 1 in
          benchmark_env to find the call
illegal_access
  pattern NVRM: Xid (?:\([^)]{1,40}\))?:? (?:13|31|43|69)\b|illegal memory access|CUDA_ERROR_ILLEGAL_ADDRESS|misaligned address
          |unspecified launch failure|CUDA_ERROR_LAUNCH_FAILED|illegal instruction was encountered
  found   a GPU kernel failed (memory access or instruction)
  fix     run with CUDA_LAUNCH_BLOCKING: 1 in benchmark_env to find it; if it moves between hosts, use other versions, if it stays on one,
          look for Xid in its dmesg and test its GPU
"""),
]

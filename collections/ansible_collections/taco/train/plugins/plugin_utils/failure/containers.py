# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin that the container engine reports, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import cause

# The requirement of an image, and two versions of the driver have causes of their own.
CLI = r"nvidia-container-cli(?:\.real)?: (?!requirement error|initialization error: nvml error: driver/library)"
NO_GPU = "the container engine can't give GPUs to a container ({why})"
CONTAINERS = [
    cause(
        "locked",
        r"Another benchmark holds the training container",
        "another run still goes on in the launcher's training container",
        "wait for it, or end mpirun there",
    ),
    cause(
        "engine",
        r"permission denied while trying to connect to the (?:Docker daemon|docker API)",
        "the user may not use the container engine",
        "use become, or add the user to the group docker on the host and log in again (id)",
    ),
    cause(
        "engine",
        r"Cannot connect to the Docker daemon|Is the docker daemon running|failed to connect to the docker API|"
        r"dial unix \S{1,80}(?:containerd|docker|crio|dockershim)\.sock: (?P<why>.{1,60})",
        "the container engine does not answer",
        "run the container_engine role (playbook deploy)",
    ),
    cause(
        "container_absent",
        r"No such container:? (?P<container>\S+)",
        "the container {container} does not exist",
        "run the training_container role (playbook deploy), or set taco_container_name",
    ),
    cause(
        "container_stopped",
        r"[Cc]ontainer (?P<container>\S+) is (?:not running|restarting|paused)|cannot exec in a (?:paused|stopped) container",
        "the container {container} is not running",
        "run the training_container role (playbook deploy)",
    ),
    *(
        cause("container_gpu", rf"{CLI}(?P<why>.{{0,200}}?{why}.{{0,160}})", NO_GPU, fix)
        for why, fix in (
            (
                r"(?:driver not loaded|load library failed: libnvidia-ml|failed to initialize NVML|driver is not loaded)",
                "install and load the NVIDIA driver of the host (modprobe nvidia, nvidia-smi; after an update of the kernel its modules "
                "are built again, and Secure Boot needs signed ones)",
            ),
            (
                r"unknown device",
                "name GPUs that the host has (nvidia-smi -L) in training_container_gpus or NVIDIA_VISIBLE_DEVICES; a GPU that is "
                "missing there was lost (dmesg: Xid 79)",
            ),
            (
                r"(?:gpu is lost|driver rpc error|driver error: (?:failed to process request|timed out)|nvml error: unknown error)",
                "look at dmesg of the host for Xid, reset the GPU or reboot the host; start nvidia-persistenced",
            ),
            (
                r"file exists",
                "remove the files of a driver (libnvidia-*.so, libcuda.so.*, nvidia-smi) from taco_image: the host's are mounted there",
            ),
            (
                r"ldcache error",
                "set ldconfig in /etc/nvidia-container-runtime/config.toml to that of the host (@/sbin/ldconfig or @/sbin/ldconfig.real), "
                "and check the libraries of the driver on the host",
            ),
            (
                r"cgroup",
                "update the NVIDIA container toolkit to one for the host's version of cgroups (role container_engine), or set "
                "no-cgroups = true in its config.toml for an engine without root",
            ),
            (
                r"(?:permission|Permission denied|insufficient permissions|operation not permitted)",
                "start the container engine as root, or give its user the devices /dev/nvidia*; MIG devices also need "
                "/dev/nvidia-caps and NVIDIA_MIG_CONFIG_DEVICES",
            ),
        )
    ),
    cause(
        # Devices by the names of the container device interface.
        "container_gpu",
        r"(?P<why>unresolvable CDI devices .{1,160}|(?:CDI device injection failed|failed to inject CDI devices).{0,160}|"
        r"(?:error setting|unknown|unregistered) CDI.{0,120})",
        NO_GPU,
        "write the description of the GPUs anew on the host (nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml; nvidia-ctk cdi list "
        "has the names), after each change of the driver or of MIG",
    ),
    cause(
        "container_gpu",
        r"could not select device driver|(?P<program>Command not found: nvidia-container-cli)|(?P<runtime>(?:unknown "
        r"or invalid runtime name: |Unknown runtime specified |no runtime for \"|RuntimeClass(?:\.node\.k8s\.io)? \")nvidia\"?.{0,40})|"
        r"exec: \"nvidia-container-runtime\w*\": executable file not found|stat \S*nvidia-container-runtime\S*: no such file",
        "the container engine of a host does not know NVIDIA's GPUs ({program}{runtime}): it lacks NVIDIA's container toolkit",
        "install the toolkit and configure the engine with it (role container_engine; nvidia-ctk runtime configure, restart the engine) "
        "and check nvidia-smi; on Kubernetes also the RuntimeClass nvidia of the GPU operator",
    ),
    cause(
        "container_gpu",
        CLI + r"(?P<why>.{1,200})",
        NO_GPU,
        "run the container_engine role, and check nvidia-smi on the host",
    ),
    cause(
        # A limit above that of the engine, or of a container without root.
        "container_limit",
        r"(?P<why>error setting rlimits?\b.{0,80}|[Mm]inimum memory limit.{0,60}|cannot set memory: .{0,60}|"
        r"Range of CPUs is from.{0,80}|Requested CPUs are not available.{0,80})",
        "the container engine does not give a container the limit that is requested ({why})",
        "request a limit that the host has (training_container_ulimits, training_container_shm_size; nproc, free); an engine without root "
        "can't raise memlock",
    ),
    cause(
        "container_hook",
        r"pyxis: +\[ERROR\] (?P<hook>/\S{1,200}/hooks\.d/[^\s/]{1,100}) exited with return code \d+",
        "a hook of enroot failed, so the container does not start ({hook}: {why})",
        "read what the hook does ({hook}): one that runs programs of the image, such as ldconfig, needs an image with glibc "
        "(Debian, Ubuntu, RHEL; not Alpine); else have the hook switched off or corrected on that host",
        r"pyxis: +(?:\[ERROR\] (?!/)(?P<why>.{1,160}))",
    ),
]

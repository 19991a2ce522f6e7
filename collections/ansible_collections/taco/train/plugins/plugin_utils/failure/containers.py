# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin that the container engine reports, and why it can't pull an image, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

# The requirement of an image, and two versions of the driver have causes of their own.
CLI = r"nvidia-container-cli(?:\.real)?: (?!requirement error|initialization error: nvml error: driver/library)"
NO_GPU = "the container engine can't give GPUs to a container ({why})"
CONTAINERS = table(
    r"""
locked
  pattern Another benchmark holds the training container
  found   another run still goes on in the launcher's training container
  fix     wait for it, or end mpirun there
engine
  pattern permission denied while trying to connect to the (?:Docker daemon|docker API)
  found   the user may not use the container engine
  fix     use become, or add the user to the group docker on the host and log in again (id)
engine
  pattern Cannot connect to the Docker daemon|Is the docker daemon running|failed to connect to the docker API
          |dial unix \S{1,80}(?:containerd|docker|crio|dockershim)\.sock: (?P<why>.{1,60})
  found   the container engine does not answer
  fix     run the container_engine role (playbook deploy)
container_absent
  pattern No such container:? (?P<container>\S+)
  found   the container {container} does not exist
  fix     run the training_container role (playbook deploy), or set taco_container_name
container_stopped
  pattern [Cc]ontainer (?P<container>\S+) is (?:not running|restarting|paused)|cannot exec in a (?:paused|stopped) container
  found   the container {container} is not running
  fix     run the training_container role (playbook deploy)
container_gpu
  pattern <<CLI>>(?P<why>.{0,200}?(?:driver not loaded|load library failed: libnvidia-ml|failed to initialize NVML
          |driver is not loaded).{0,160})
  found   <<NO_GPU>>
  fix     install and load the NVIDIA driver of the host (modprobe nvidia, nvidia-smi; after an update of the kernel its modules are built
          again, and Secure Boot needs signed ones)
container_gpu
  pattern <<CLI>>(?P<why>.{0,200}?unknown device.{0,160})
  found   <<NO_GPU>>
  fix     name GPUs that the host has (nvidia-smi -L) in training_container_gpus or NVIDIA_VISIBLE_DEVICES; a GPU that is missing there was
          lost (dmesg: Xid 79)
container_gpu
  pattern <<CLI>>(?P<why>.{0,200}?(?:gpu is lost|driver rpc error|driver error: (?:failed to process request|timed out)
          |nvml error: unknown error).{0,160})
  found   <<NO_GPU>>
  fix     look at dmesg of the host for Xid, reset the GPU or reboot the host; start nvidia-persistenced
container_gpu
  pattern <<CLI>>(?P<why>.{0,200}?file exists.{0,160})
  found   <<NO_GPU>>
  fix     remove the files of a driver (libnvidia-*.so, libcuda.so.*, nvidia-smi) from taco_image: the host's are mounted there
container_gpu
  pattern <<CLI>>(?P<why>.{0,200}?ldcache error.{0,160})
  found   <<NO_GPU>>
  fix     set ldconfig in /etc/nvidia-container-runtime/config.toml to that of the host (@/sbin/ldconfig or @/sbin/ldconfig.real), and check
          the libraries of the driver on the host
container_gpu
  pattern <<CLI>>(?P<why>.{0,200}?cgroup.{0,160})
  found   <<NO_GPU>>
  fix     update the NVIDIA container toolkit to one for the host's version of cgroups (role container_engine), or set no-cgroups = true in
          its config.toml for an engine without root
container_gpu
  pattern <<CLI>>(?P<why>.{0,200}?(?:permission|Permission denied|insufficient permissions|operation not permitted).{0,160})
  found   <<NO_GPU>>
  fix     start the container engine as root, or give its user the devices /dev/nvidia*; MIG devices also need /dev/nvidia-caps and
          NVIDIA_MIG_CONFIG_DEVICES
# Devices by the names of the container device interface.
container_gpu
  pattern (?P<why>unresolvable CDI devices .{1,160}|(?:CDI device injection failed|failed to inject CDI devices).{0,160}
          |(?:error setting|unknown|unregistered) CDI.{0,120})
  found   <<NO_GPU>>
  fix     write the description of the GPUs anew on the host (nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml; nvidia-ctk cdi list has
          the names), after each change of the driver or of MIG
container_gpu
  pattern could not select device driver|(?P<program>Command not found: nvidia-container-cli)
          |(?P<runtime>(?:unknown or invalid runtime name: |Unknown runtime specified |no runtime for "
          |RuntimeClass(?:\.node\.k8s\.io)? ")nvidia"?.{0,40})|exec: "nvidia-container-runtime\w*": executable file not found
          |stat \S*nvidia-container-runtime\S*: no such file
  found   the container engine of a host does not know NVIDIA's GPUs ({program}{runtime}): it lacks NVIDIA's container toolkit
  fix     install the toolkit and configure the engine with it (role container_engine; nvidia-ctk runtime configure, restart the engine) and
          check nvidia-smi; on Kubernetes also the RuntimeClass nvidia of the GPU operator
container_gpu
  pattern <<CLI>>(?P<why>.{1,200})
  found   <<NO_GPU>>
  fix     run the container_engine role, and check nvidia-smi on the host
# A limit above that of the engine, or of a container without root.
container_limit
  pattern (?P<why>error setting rlimits?\b.{0,80}|[Mm]inimum memory limit.{0,60}|cannot set memory: .{0,60}|Range of CPUs is from.{0,80}
          |Requested CPUs are not available.{0,80})
  found   the container engine does not give a container the limit that is requested ({why})
  fix     request a limit that the host has (training_container_ulimits, training_container_shm_size; nproc, free); an engine without root
          can't raise memlock
container_hook
  pattern pyxis: +\[ERROR\] (?P<hook>/\S{1,200}/hooks\.d/[^\s/]{1,100}) exited with return code \d+
  found   a hook of enroot failed, so the container does not start ({hook}: {why})
  fix     read what the hook does ({hook}): one that runs programs of the image, such as ldconfig, needs an image with glibc (Debian,
          Ubuntu, RHEL; not Alpine); else have the hook switched off or corrected on that host
  near    pyxis: +(?:\[ERROR\] (?!/)(?P<why>.{1,160}))
""",
    CLI=CLI,
    NO_GPU=NO_GPU,
)
FOUND = "the image {image} can't be pulled ({why})"
NAME = "check the name and the tag of taco_image (mpijob_image on Kubernetes)"
# The kubelet's event names the image before the reason, which several programs wrap.
PULL = (
    r"(?:[Ff]ailed to pull image \"(?P<image>[^\"]{1,300})\"|\bPull(?:ing)? image \"(?P<image2>[^\"]{1,300})\" failed)"
)
# The pod that a message of the API server is about.
POD = r"pod \"(?P<host>[^\"]+)\" is waiting to start: trying and failing"
# Who pulls an image. Other programs print reasons such as x509 and status 429 of other servers.
ENGINE = r"(?:Error response from daemon: |rpc error: code = |pyxis: |\bdocker: |\b(?:resolve reference|do request|copying image) )"
# Only a registry says this.
REGISTRY = (
    r"(?:toomanyrequests: |pull access denied|manifest unknown|manifest for \S+ not found|no matching manifest for|no match for platform|"
    r"no basic auth credentials|insufficient_scope: |URL \S{1,200} returned error code|denied: requested access)"
)
# Before a reason of who pulls an image, or one that only a registry gives.
PULLED = rf"(?:(?:{PULL}|{ENGINE}).{{0,600}}?|(?={REGISTRY}))"
IMAGES = table(
    r"""
# Each of its lines is behind one of pyxis.
slurm_user
  pattern pyxis: +(?:\[ERROR\] )?(?P<why>\w+: cannot find name for (?:user|group) ID \d+)
  found   a host does not know the user of the job ({why}), so its container does not start
  fix     run again without that host (--exclude), and have its users brought in line with those of the others (getent passwd, id; sssd,
          LDAP)
# A full disk is reported as an image that can't be pulled.
disk
  pattern <<PULL>>.{0,800}?no space left on device
  found   the disk of a node is full: it can't unpack the image {image}
  fix     free space on the node (crictl rmi --prune, df -h), or use a smaller image
  near    <<POD>>
disk
  pattern pyxis: .{0,200}?(?:[Nn]o space left on device|Failed to write to output filesystem)
  found   a node has no space where enroot unpacks the image {path}
  fix     free space there on that node (df -h), or have ENROOT_DATA_PATH, ENROOT_CACHE_PATH, ENROOT_TEMP_PATH and pyxis's runtime_path set
          to a disk with space: /run is in memory; or import the image once to a shared .sqsh file
  near    filesystem on (?P<path>/[^\s,]{1,300})
image
  pattern <<PULLED>>(?:(?P<why>no matching manifest for \S+.{0,40}|no match for platform in manifest.{0,60}
          |image operating system \S+ cannot be used.{0,60}))
  found   <<FOUND>>
  fix     use a taco_image (mpijob_image on Kubernetes) for the CPU of the hosts (uname -m), or build it for both kinds
  near    <<POD>>
image
  pattern <<PULLED>>(?:(?P<why>toomanyrequests: .{1,60}|429 Too Many Requests))
  found   <<FOUND>>
  fix     log in to the registry, or put the image into a registry of your own: this one limits the pulls
  near    <<POD>>
image
  pattern <<PULLED>>(?:(?P<why>manifest for (?P<image3>\S+) not found|(?:manifest|name) unknown.{0,60}|not found: manifest.{0,60}
          |(?:URL \S{1,200} )?returned error code: 404 Not Found))
  found   <<FOUND>>
  fix     <<NAME>>: the registry has no such image
  near    <<POD>>
image
  pattern <<PULL>>.{0,600}[ :](?P<why>not found)\s*$
  found   <<FOUND>>
  fix     <<NAME>>: the registry has no such image
  near    <<POD>>
image
  pattern <<PULLED>>(?:(?P<why>pull access denied(?: for (?P<image3>[^\s,]+))?,[^:]{0,80}|unauthorized: [a-z].{1,60}
          |no basic auth credentials|insufficient_scope: authorization failed
          |\bdenied: (?:requested access|Permission "|Your ).{1,60}|(?:URL \S{1,200} )?returned error code: 40[13] .{0,20}
          |(?:failed to (?:authorize|fetch \w+ token)|pulling from host|manifests).{1,200}\b40[13] \w+))
  found   <<FOUND>>
  fix     give the host the registry's credentials (docker login; on Kubernetes a Secret in imagePullSecrets of the pod or its service
          account), and <<NAME>>: a registry says the same of an image that it does not have
  near    <<POD>>
image
  pattern <<PULLED>>(?:(?P<why>x509: .{1,80}|server gave HTTP response to HTTPS client))
  found   <<FOUND>>
  fix     give the container engine of the host the registry's certificate, or name the registry as one without TLS
  near    <<POD>>
image
  pattern <<PULLED>>(?:(?P<why>Get "https?://[^"]{1,200}/v[12]/[^"]{0,200}": .{1,120}))
  found   <<FOUND>>
  fix     check that the host reaches the registry: DNS, proxy, firewall (curl on the host)
  near    <<POD>>
image
  pattern <<PULL>>:? (?:.{0,600}: )?(?P<why>dial tcp.{1,120}|lookup \S+.{1,120}|(?:net/http|context|i/o).{1,100}|unexpected EOF
          |connection reset.{0,60})
  found   <<FOUND>>
  fix     check that the host reaches the registry: DNS, proxy, firewall (curl on the host)
  near    <<POD>>
image
  pattern (?i:container) image "(?P<image>[^"]{1,300})" is not present with (?P<why>pull policy of Never)
  found   <<FOUND>>
  fix     load the image on the node, or do not set imagePullPolicy Never
  near    <<POD>>
image
  pattern (?:[Ff]ailed to apply default image tag
          |[Ff]ailed to pull image) "(?P<image>[^"]{1,300})".{0,300}?(?P<why>invalid reference format.{0,60})
  found   <<FOUND>>
  fix     <<NAME>>: it has a character that no name may have
  near    <<POD>>
image
  pattern <<PULL>>:? (?:.{0,200}desc = )?(?P<why>.{1,200})
  found   <<FOUND>>
  fix     <<NAME>>, the registry's credentials, and that the host reaches it
  near    <<POD>>
image
  pattern pyxis: +\[ERROR\] (?P<why>(?:No such file or directory|File not found|Could not open
          |Invalid image)[^:]{0,40}:? ?(?P<image>\S{1,200}))
  found   the image {image} can't be opened ({why})
  fix     check the path of the image (--container-image) on every node, and that the node mounts its file system
# A status. Another line may have the reason.
image
  pattern Back-off pulling image "(?P<image>[^"]{1,300})"
  found   the image {image} can't be pulled
  fix     <<NAME>>, and look at the pod's events for the reason (kubectl describe pod)
  near    <<POD>>
image
  pattern ErrImage(?:Pull|NeverPull)|InvalidImageName|trying and failing to pull image|ImagePullBackOff|pyxis: .{0,200}returned error code
          |failed to import docker image|could not open image \S
  found   an image can't be pulled or opened
  fix     <<NAME>>, and the registry's credentials
""",
    FOUND=FOUND,
    NAME=NAME,
    POD=POD,
    PULL=PULL,
    PULLED=PULLED,
)

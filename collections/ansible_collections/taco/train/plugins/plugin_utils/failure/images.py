# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why an image can't be pulled, each reason with its own fix: the line with the reason before a status alone."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import Cause, cause

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


def pull(why: str, fix: str) -> Cause:
    """A reason of who pulls an image, or one that only a registry gives."""
    return cause("image", rf"(?:(?:{PULL}|{ENGINE}).{{0,600}}?|(?={REGISTRY}))(?:{why})", FOUND, fix, POD)


IMAGES = [
    cause(
        # Each of its lines is behind one of pyxis.
        "slurm_user",
        r"pyxis: +(?:\[ERROR\] )?(?P<why>\w+: cannot find name for (?:user|group) ID \d+)",
        "a host does not know the user of the job ({why}), so its container does not start",
        "run again without that host (--exclude), and have its users brought in line with those of the others (getent passwd, id; sssd, "
        "LDAP)",
    ),
    cause(
        # A full disk is reported as an image that can't be pulled.
        "disk",
        rf"{PULL}.{{0,800}}?no space left on device",
        "the disk of a node is full: it can't unpack the image {image}",
        "free space on the node (crictl rmi --prune, df -h), or use a smaller image",
        POD,
    ),
    cause(
        "disk",
        r"pyxis: .{0,200}?(?:[Nn]o space left on device|Failed to write to output filesystem)",
        "a node has no space where enroot unpacks the image {path}",
        "free space there on that node (df -h), or have ENROOT_DATA_PATH, ENROOT_CACHE_PATH, ENROOT_TEMP_PATH and pyxis's runtime_path "
        "set to a disk with space: /run is in memory; or import the image once to a shared .sqsh file",
        r"filesystem on (?P<path>/[^\s,]{1,300})",
    ),
    pull(
        r"(?P<why>no matching manifest for \S+.{0,40}|no match for platform in manifest.{0,60}|"
        r"image operating system \S+ cannot be used.{0,60})",
        "use a taco_image (mpijob_image on Kubernetes) for the CPU of the hosts (uname -m), or build it for both kinds",
    ),
    pull(
        r"(?P<why>toomanyrequests: .{1,60}|429 Too Many Requests)",
        "log in to the registry, or put the image into a registry of your own: this one limits the pulls",
    ),
    pull(
        r"(?P<why>manifest for (?P<image3>\S+) not found|(?:manifest|name) unknown.{0,60}|not found: manifest.{0,60}|"
        r"(?:URL \S{1,200} )?returned error code: 404 Not Found)",
        f"{NAME}: the registry has no such image",
    ),
    cause(
        "image",
        rf"{PULL}.{{0,600}}[ :](?P<why>not found)\s*$",
        FOUND,
        f"{NAME}: the registry has no such image",
        POD,
    ),
    pull(
        r"(?P<why>pull access denied(?: for (?P<image3>[^\s,]+))?,[^:]{0,80}|unauthorized: [a-z].{1,60}|no basic auth credentials|"
        r"insufficient_scope: authorization failed|\bdenied: (?:requested access|Permission \"|Your ).{1,60}|(?:URL \S{1,200} )?returned "
        r"error code: 40[13] .{0,20}|(?:failed to (?:authorize|fetch \w+ token)|pulling from host|manifests).{1,200}\b40[13] \w+)",
        f"give the host the registry's credentials (docker login; on Kubernetes a Secret in imagePullSecrets of the pod or its service "
        f"account), and {NAME}: a registry says the same of an image that it does not have",
    ),
    pull(
        r"(?P<why>x509: .{1,80}|server gave HTTP response to HTTPS client)",
        "give the container engine of the host the registry's certificate, or name the registry as one without TLS",
    ),
    pull(
        r"(?P<why>Get \"https?://[^\"]{1,200}/v[12]/[^\"]{0,200}\": .{1,120})",
        "check that the host reaches the registry: DNS, proxy, firewall (curl on the host)",
    ),
    cause(
        "image",
        rf"{PULL}:? (?:.{{0,600}}: )?(?P<why>dial tcp.{{1,120}}|lookup \S+.{{1,120}}|(?:net/http|context|i/o)"
        r".{1,100}|unexpected EOF|connection reset.{0,60})",
        FOUND,
        "check that the host reaches the registry: DNS, proxy, firewall (curl on the host)",
        POD,
    ),
    cause(
        "image",
        r"(?i:container) image \"(?P<image>[^\"]{1,300})\" is not present with (?P<why>pull policy of Never)",
        FOUND,
        "load the image on the node, or do not set imagePullPolicy Never",
        POD,
    ),
    cause(
        "image",
        r"(?:[Ff]ailed to apply default image tag|[Ff]ailed to pull image) \"(?P<image>[^\"]{1,300})\".{0,300}?"
        r"(?P<why>invalid reference format.{0,60})",
        FOUND,
        f"{NAME}: it has a character that no name may have",
        POD,
    ),
    cause(
        "image",
        rf"{PULL}:? (?:.{{0,200}}desc = )?(?P<why>.{{1,200}})",
        FOUND,
        f"{NAME}, the registry's credentials, and that the host reaches it",
        POD,
    ),
    cause(
        "image",
        r"pyxis: +\[ERROR\] (?P<why>(?:No such file or directory|File not found|Could not open|Invalid image)[^:]{0,40}:? "
        r"?(?P<image>\S{1,200}))",
        FOUND.replace("pulled", "opened"),
        "check the path of the image (--container-image) on every node, and that the node mounts its file system",
    ),
    # A status. Another line may have the reason.
    cause(
        "image",
        r"Back-off pulling image \"(?P<image>[^\"]{1,300})\"",
        "the image {image} can't be pulled",
        f"{NAME}, and look at the pod's events for the reason (kubectl describe pod)",
        POD,
    ),
    cause(
        "image",
        r"ErrImage(?:Pull|NeverPull)|InvalidImageName|trying and failing to pull image|ImagePullBackOff|pyxis: .{0,200}returned error code|"
        r"failed to import docker image|could not open image \S",
        "an image can't be pulled or opened",
        f"{NAME}, and the registry's credentials",
    ),
]

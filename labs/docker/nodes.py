# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The nodes: systemd containers with a network for MPI and SSH and one more network for each ENI."""

import io
import re
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import images
import keys
import slots
from shell import CommandError, LabError
from state import LAB, ROOT

LABEL = f"taco.lab={ROOT}"
NETWORKS = ("taco-lab", "taco-lab-eni-1", "taco-lab-eni-2")  # eth0 and one per stand-in GPU
BRIDGE = "taco-lab"  # and the slot, a hyphen and the number of the network
THIRD_OCTETS = (64, 65, 66)  # of the /24 networks; the controller is .1, node n is .(11 + n)
SLOT = LAB / "slot"
MOST_NODES = 64
TRAINING_ARCHIVE = "/usr/share/taco-lab/training.tar"
START_SECONDS = 90
LIMITED = [
    "--cap-add=ALL",
    "--cap-drop=SYS_RESOURCE",
    "--security-opt=seccomp=unconfined",
    "--security-opt=apparmor=unconfined",
]


def name(index):
    return f"taco-lab-node-{index}"


def bridge(slot, number):
    """The name of the bridge of network number of a lab."""
    return f"{BRIDGE}{slot}-{number}"


def addresses(slot, index):
    """The addresses of a node in its networks."""
    return [f"{slots.subnet(slot, third)}.{11 + index}" for third in THIRD_OCTETS]


def describe(slot, index):
    """The description of a node in state.json and the inventory."""
    first, *others = addresses(slot, index)
    enis = [{"name": f"eth{number}", "address": address} for number, address in enumerate(others, 1)]
    host_key = " ".join(keys.host(name(index))[1].split()[:2])
    return {"name": name(index), "address": first, "port": 22, "enis": enis, "host_key": host_key}


def group_mounts(mountinfo):
    """Return the options that show a node the control groups of a machine with version 1, one mount for each hierarchy.

    The folder that they lie in is the node's own: systemd makes folders in it and then the whole of it read-only, which must
    not happen to the machine's.
    """
    points = [line.split()[4] for line in mountinfo.splitlines()]
    hierarchies = sorted({point for point in points if re.match(r"/sys/fs/cgroup/[^/]+$", point)})
    options = ["--cgroupns", "host", "--tmpfs", "/sys/fs/cgroup:mode=755"]
    for point in hierarchies:
        options += ["--volume", f"{point}:{point}:rw"]
    return options


def privileges(cgroup_version, mountinfo):
    """Return the ways to give a node what systemd needs, best first; which of them a machine allows is found by trying."""
    if cgroup_version == "2":
        shared = ["--cgroupns", "host", "--volume", "/sys/fs/cgroup:/sys/fs/cgroup:rw"]
        return [["--privileged", "--cgroupns", "private"], LIMITED + shared]
    return [["--privileged"] + group_mounts(mountinfo), LIMITED + group_mounts(mountinfo)]


def choose_privileges(engine):
    """Return the first way under which a container starts."""
    problems = []
    version = engine("info", "--format", "{{.CgroupVersion}}").strip()
    for options in privileges(version, Path("/proc/self/mountinfo").read_text(encoding="utf-8")):
        try:
            engine("run", "--rm", "--network", "none", "--label", LABEL, *options, images.NODE.name, "true")
            return options
        except CommandError as error:
            problems.append(str(error).splitlines()[-1])
    raise LabError("this engine starts no container with the rights that systemd needs: " + "; ".join(problems))


def owned(engine, kind):
    """Return the names of the lab's containers, volumes or networks."""
    field = "{{.Names}}" if kind == "container" else "{{.Name}}"
    everything = ["--all"] if kind == "container" else []
    return engine.lines(kind, "ls", *everything, "--filter", "label=" + LABEL, "--format", field)


def choose_slot(engine):
    """The slot of the networks that the engine has, or a new one."""
    slot = slots.kept(SLOT) if owned(engine, "network") else None
    return slots.choose(BRIDGE, THIRD_OCTETS, SLOT) if slot is None else slot


def make_networks(engine, slot, links=slots.LINKS):
    """Create the missing networks."""
    present = owned(engine, "network")
    for number, (network, third) in enumerate(zip(NETWORKS, THIRD_OCTETS)):
        if network in present:
            continue
        # An engine would join a bridge of this name, and two labs would then share their addresses.
        if (links / bridge(slot, number)).exists():
            raise LabError(f"the bridge {bridge(slot, number)} is not of this lab; run make lab-down and make lab-up")
        isolated = ["--internal"] if number else []
        engine(
            *["network", "create", "--driver", "bridge", "--label", LABEL],
            *["--subnet", slots.subnet(slot, third) + ".0/24"],
            *["--opt", "com.docker.network.bridge.name=" + bridge(slot, number)],
            *isolated,
            network,
        )


def load_image(engine, image, archive):
    """Load an image unless the engine has exactly this one."""
    try:
        present = engine("image", "inspect", "--format", "{{.Id}}", image.name).strip()
    except CommandError:
        present = None
    if present != images.identity(archive):
        engine("load", "--quiet", "--input", str(archive))


def identity_tar(index):
    """Return the tar of what only this node has: its host key, and who may log in."""
    private, public = keys.host(name(index))
    content = [
        ("etc/ssh/ssh_host_ed25519_key", private, 0o600),
        ("etc/ssh/ssh_host_ed25519_key.pub", public, 0o644),
        ("root/.ssh/authorized_keys", keys.login()[1], 0o600),
    ]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        folder = tarfile.TarInfo("root/.ssh")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o700
        tar.addfile(folder)
        for path, text, mode in content:
            member = tarfile.TarInfo(path)
            member.size, member.mode, member.mtime = len(text.encode()), mode, int(time.time())
            tar.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


def tbf(rate):
    """The queueing discipline that limits an interface to a rate, as arguments of tc."""
    # A burst of 10 ms of the rate, or a pause would make what follows it faster. A queue that holds all that anybody sends at
    # once: a lost packet costs TCP 200 ms, now and then, and nothing could be measured beside that.
    mbit = re.fullmatch(r"(\d+)mbit", rate)
    burst = max(16, int(mbit.group(1)) * 10 // 8) if mbit else 256
    return ["tbf", "rate", rate, "burst", f"{burst}kb", "limit", "64mb"]


def limit(engine, index, rate):
    """Limit what a node sends on eth0, so that communication costs time there as it does between hosts."""
    engine("exec", name(index), "tc", "qdisc", "replace", "dev", "eth0", "root", *tbf(rate))


def create(engine, slot, index, options, training_archive):
    """Create and start one node with its interfaces in order."""
    container = name(index)
    engine("volume", "create", "--label", LABEL, container)
    engine(
        *["create", "--name", container, "--hostname", container, "--label", LABEL, *options],
        *["--network", NETWORKS[0], "--ip", addresses(slot, index)[0]],
        # Nothing outside the lab is reached, so names that aren't of the lab are refused at once instead of after 20 s.
        *["--dns", "127.0.0.1", "--dns-opt", "timeout:1", "--dns-opt", "attempts:1"],
        # The node's own engine asks for forwarding, and finds /proc/sys read-only where the node isn't privileged.
        *["--sysctl", "net.ipv4.ip_forward=1"],
        *["--tmpfs", "/run:exec", "--tmpfs", "/tmp:exec", "--stop-signal", "SIGRTMIN+3"],
        *["--volume", container + ":/var/lib/docker", "--volume", f"{training_archive}:{TRAINING_ARCHIVE}:ro"],
        images.NODE.name,
    )
    engine("cp", "-", container + ":/", data=identity_tar(index))
    engine("start", container)
    # Attached to a running container, interfaces are named in this order; before the start the order would be anything.
    for network, address in list(zip(NETWORKS, addresses(slot, index)))[1:]:
        engine("network", "connect", "--ip", address, network, container)


def wait(engine, index):
    """Wait until a node's systemd has started everything."""
    deadline = time.monotonic() + START_SECONDS
    said = "no answer"
    while time.monotonic() < deadline:
        try:
            engine("exec", name(index), "systemctl", "is-system-running", "--wait")
            engine("exec", name(index), "docker", "info")
            return
        except CommandError as error:
            said = str(error).splitlines()[-1]
            if said == "degraded":
                failed = engine("exec", name(index), "systemctl", "--failed", "--no-legend", "--plain").strip()
                raise LabError(f"{name(index)}: these units failed: {failed}") from error
        time.sleep(0.3)
    raise LabError(f"{name(index)}: systemd isn't up after {START_SECONDS} s: {said}")


def load_training(engine, index, image, archive):
    """Load the training image into a node's own engine unless it has exactly this one."""
    inner = ["exec", name(index), "docker"]
    try:
        present = engine(*inner, "image", "inspect", "--format", "{{.Id}}", image).strip()
    except CommandError:
        present = None
    if present != images.identity(archive):
        engine(*inner, "load", "--quiet", "--input", TRAINING_ARCHIVE)


def healthy(engine, container, image_id, training_archive):
    """Return whether a container runs from the present images and has all its interfaces."""
    text = engine(
        *[
            "inspect",
            "--format",
            "{{.State.Running}} {{.Image}} {{len .NetworkSettings.Networks}}|{{range .Mounts}}{{.Source}}|{{end}}",
        ],
        container,
    ).strip()
    return text.startswith(f"true {image_id} {len(NETWORKS)}|") and f"|{training_archive}|" in text


def refuse_foreign(engine):
    """Refuse names that containers of another lab have."""
    line = '{{.Names}} {{.Label "taco.lab"}}'
    for text in engine("container", "ls", "--all", "--filter", "name=^taco-lab-node-", "--format", line).splitlines():
        container, _space, place = text.partition(" ")
        if place != str(ROOT):
            raise LabError(
                f"{container} belongs to the lab of {place or 'somebody else'}; run make lab-down there first"
            )


def up(engine, count, rate, archives, training):
    """Bring up exactly this number of nodes with the training image of a name, keeping those that run; return their descriptions."""
    refuse_foreign(engine)
    node_archive, training_archive = archives[images.NODE.name], archives[training]
    load_image(engine, images.NODE, node_archive)
    wanted = [name(index) for index in range(count)]
    image_id = images.identity(node_archive)
    kept = [
        container
        for container in owned(engine, "container")
        if container in wanted and healthy(engine, container, image_id, training_archive)
    ]
    remove(engine, [container for container in owned(engine, "container") if container not in kept])
    slot = choose_slot(engine)
    make_networks(engine, slot)
    new = [index for index in range(count) if name(index) not in kept]
    if new:
        print(f"lab: starting {', '.join(name(index) for index in new)}", flush=True)
        options = choose_privileges(engine)
        described = [describe(slot, index) for index in new]
        for index, _node in zip(new, described):
            create(engine, slot, index, options, training_archive)

    def finish(index):
        wait(engine, index)
        limit(engine, index, rate)
        load_training(engine, index, training, training_archive)

    with ThreadPoolExecutor(max_workers=min(4, count)) as pool:
        for _done in pool.map(finish, range(count)):
            pass
    return [describe(slot, index) for index in range(count)]


def remove(engine, containers):
    """Remove nodes with their volumes; what runs in them is stopped first, so that no control group of it stays."""
    for container in containers:
        inner = "docker ps --all --quiet | xargs --no-run-if-empty docker rm --force --volumes"
        engine.succeeds("exec", container, "sh", "-c", inner)
        engine("rm", "--force", "--volumes", container)
        if container in owned(engine, "volume"):
            engine("volume", "rm", container)


def down(engine):
    """Remove everything of the lab from an engine."""
    remove(engine, owned(engine, "container"))
    for volume in owned(engine, "volume"):
        engine("volume", "rm", volume)
    for network in owned(engine, "network"):
        engine("network", "rm", network)
    if SLOT.exists():
        SLOT.unlink()
    if engine.succeeds("image", "inspect", images.NODE.name):
        engine("image", "rm", "--force", images.NODE.name)

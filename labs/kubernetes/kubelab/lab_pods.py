# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the command of Docker is that makes a container of a pod, and the files that its volumes hold. Values in, values out."""

import base64
import io
import re
import shlex
import tarfile

from ansible_collections.taco.train.plugins.module_utils.cluster.resources import amount
from kubelab.lab_nodes import LABEL, NETWORK, PODS

KUBE = "/opt/kube"
# In the launcher, where an init container would have put the real one: the operator's kubexec.sh calls it.
KUBECTL = """#!/bin/sh
# A stand-in of the taco.train lab for kubectl: between pods of the lab `kubectl exec` is SSH.
if [ "$1" != exec ] || [ "$3" != -- ] || [ "$4" != /bin/sh ] || [ "$5" != -c ] || [ $# -ne 6 ]; then
    echo "kubectl (lab): expected exec POD -- /bin/sh -c COMMAND, found: $*" >&2
    exit 1
fi
while read -r name address port; do
    if [ "$name" = "$2" ]; then
        exec ssh -i /opt/kube/key -p "$port" -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \\
            -o LogLevel=ERROR "root@$address" ". /opt/kube/environment; $6"
    fi
done < /opt/kube/pods
echo "Error from server (NotFound): pods \\"$2\\" not found" >&2
exit 1
"""
SSH_CONFIG = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n"
_REFERENCE = re.compile(r"\$(?:\$|\(([A-Za-z_][A-Za-z0-9_.-]*)\))")


def container_name(pod):
    metadata = pod["metadata"]
    first = pod["spec"]["containers"][0]["name"]
    return f"k8s_{first}_{metadata['name']}_{metadata['namespace']}_{metadata['uid']}_0"


def folder(pod):
    return f"{PODS}/{pod['metadata']['uid']}"


def expanded(text, environment):
    """Return a text as kubelets make it: $(NAME) is a variable where there is one, and $$ is $."""

    def replace(match):
        if match.group(0) == "$$":
            return "$"
        return environment.get(match.group(1), match.group(0))

    return _REFERENCE.sub(replace, text)


def environment_of(container):
    found = {}
    for entry in container.get("env") or []:
        found[entry["name"]] = expanded(str(entry.get("value", "")), found)
    return found


def waits_for_exec(pod):
    """Return whether a pod is a worker that is reached by kubectl exec."""
    return (pod["metadata"].get("labels") or {}).get(
        "mpi-job-role", (pod["metadata"].get("labels") or {}).get("mpi_role_type")
    ) == "worker"


def _projected(volume, objects):
    """Return the files of a volume that holds a ConfigMap or a Secret, as (path, bytes, mode)."""
    if "configMap" in volume:
        source, data = volume["configMap"], objects("ConfigMap", volume["configMap"]["name"]).get("data") or {}
        content = {key: text.encode() for key, text in data.items()}
    else:
        source, data = volume["secret"], objects("Secret", volume["secret"]["secretName"]).get("data") or {}
        content = {key: base64.b64decode(text) for key, text in data.items()}
    default = source.get("defaultMode", 0o644)
    items = source.get("items") or [{"key": key, "path": key} for key in content]
    return [(item["path"], content[item["key"]], item.get("mode", default)) for item in items if item["key"] in content]


def files(pod, objects, key):
    """Return the files of a pod's folder on its node, as (path, bytes, mode); objects(kind, name) returns one."""
    found = []
    for volume in pod["spec"].get("volumes") or []:
        if "configMap" in volume or "secret" in volume:
            found += [
                (f"volumes/{volume['name']}/{path}", data, mode) for path, data, mode in _projected(volume, objects)
            ]
    private, public = key
    lines = [
        f"export {name}={shlex.quote(value)}" for name, value in environment_of(pod["spec"]["containers"][0]).items()
    ]
    found += [
        ("kube/key", private.encode(), 0o600),
        ("kube/host_key", private.encode(), 0o600),
        ("kube/authorized_keys", public.encode(), 0o600),
        ("kube/environment", ("\n".join(lines) + "\n").encode(), 0o644),
        ("kube/kubectl", KUBECTL.encode(), 0o755),
        ("kube/pods", b"", 0o644),
        ("ssh_config", SSH_CONFIG.encode(), 0o644),
        ("hosts", b"127.0.0.1 localhost\n", 0o644),
    ]
    return found


def archive(found):
    """Return the tar of files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path, data, mode in found:
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), mode
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _mounts(pod, container):
    """Return the options for a container's volumes."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    options = []
    for mount in container.get("volumeMounts") or []:
        volume, target = volumes[mount["name"]], mount["mountPath"]
        if "hostPath" in volume:
            end = ":ro" if mount.get("readOnly") else ""
            options += ["--volume", f"{volume['hostPath']['path']}:{target}{end}"]
        elif "emptyDir" in volume and target == "/dev/shm":
            size = volume["emptyDir"].get("sizeLimit")
            options += ["--shm-size", str(int(amount(size, "sizeLimit")))] if size else []
        elif "emptyDir" in volume:
            options += ["--volume", target]
        else:
            options += ["--volume", f"{folder(pod)}/volumes/{mount['name']}:{target}:ro"]
    return options


def run_argv(pod, ip):
    """Return the command that starts a pod's container; without an address it has its node's network."""
    container = pod["spec"]["containers"][0]
    environment = environment_of(container)
    argv = ["docker", "run", "--detach", "--pull", "never", "--name", container_name(pod)]
    argv += ["--label", f"{LABEL}={pod['metadata']['namespace']}/{pod['metadata']['name']}"]
    argv += ["--network", NETWORK, "--ip", ip, "--hostname", pod["metadata"]["name"]] if ip else ["--network", "host"]
    if ip:
        argv += ["--volume", f"{folder(pod)}/hosts:/etc/hosts"]
    argv += ["--volume", f"{folder(pod)}/kube:{KUBE}"]
    argv += ["--volume", f"{folder(pod)}/kube/host_key:/etc/ssh/ssh_host_ed25519_key:ro"]
    argv += ["--volume", f"{folder(pod)}/ssh_config:/etc/ssh/ssh_config.d/taco-lab.conf:ro"]
    argv += _mounts(pod, container)
    for name, value in environment.items():
        argv += ["--env", f"{name}={value}"]
    words = [expanded(word, environment) for word in container.get("command") or []]
    arguments = [expanded(word, environment) for word in container.get("args") or []]
    if words:
        argv += ["--entrypoint", words[0]]
    return [*argv, container["image"], *words[1:], *arguments]


def sshd_argv(pod, port):
    """Return the command that starts an SSH server in a worker, which is what `kubectl exec` comes to in the lab."""
    options = {
        "HostKey": f"{KUBE}/host_key",
        "AuthorizedKeysFile": f"{KUBE}/authorized_keys",
        "StrictModes": "no",
        "PermitRootLogin": "prohibit-password",
        "PasswordAuthentication": "no",
        "UsePAM": "no",
        "PidFile": "none",
        "MaxStartups": "100",
    }
    argv = ["docker", "exec", container_name(pod), "/usr/sbin/sshd", "-f", "/dev/null", "-p", str(port)]
    return argv + [word for name, value in options.items() for word in ("-o", f"{name}={value}")]


def start_script(pod, ip, port):
    """Return the script that makes a pod's folder from a tar on its input, and its container."""
    place = shlex.quote(folder(pod))
    lines = [
        f"mkdir -p {place}",
        f"tar -x -f - -C {place}",
        f"chmod 755 {place}/volumes/* {place}/kube 2> /dev/null || echo none",
    ]
    lines.append(shlex.join(run_argv(pod, ip)))
    if waits_for_exec(pod):
        lines.append(shlex.join(sshd_argv(pod, port)))
    return "\n".join(lines)


def stop_script(pod):
    name = shlex.quote(container_name(pod))
    found = f"docker container inspect {name} > /dev/null 2>&1"
    return f"if {found}; then docker rm --force --volumes {name} > /dev/null; fi\nrm -rf {shlex.quote(folder(pod))}"


def hosts_text(pod, addresses):
    """Return /etc/hosts of a pod; addresses is {pod: (address, hostname, subdomain, namespace)}."""
    lines = ["127.0.0.1 localhost"]
    mine = pod["spec"].get("subdomain")
    for name, (address, hostname, subdomain, namespace) in sorted(addresses.items()):
        if not address:
            continue
        if name == pod["metadata"]["name"]:
            lines.append(f"{address} {name}")
        if subdomain:
            full = f"{hostname}.{subdomain}.{namespace}.svc"
            # Only workers have the search domain in which a bare name is found.
            short = f" {hostname}" if mine == subdomain and name != pod["metadata"]["name"] else ""
            lines.append(f"{address} {full} {full}.cluster.local{short}")
    return "\n".join(lines) + "\n"


def write_script(texts):
    """Return a script that writes files where they are, given as {path: text}: a mounted file must stay the same one."""
    lines = []
    for path, text in texts.items():
        lines.append(f"if [ -f {shlex.quote(path)} ]; then cat > {shlex.quote(path)} << 'TEXT'\n{text}TEXT\nfi")
    return "\n".join(lines)

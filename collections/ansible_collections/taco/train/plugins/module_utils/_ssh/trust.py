# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write the files of SSH between training containers, run the server, and test the login to every peer."""

import os
import pwd
from typing import Any, Dict, List, Mapping, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils._files.atomic import remove_file
from ansible_collections.taco.train.plugins.module_utils._process.failure import some
from ansible_collections.taco.train.plugins.module_utils._process.place import Place
from ansible_collections.taco.train.plugins.module_utils._ssh import files as ssh_files
from ansible_collections.taco.train.plugins.module_utils._ssh import folder as ssh_folder
from ansible_collections.taco.train.plugins.module_utils._ssh import server as ssh_server
from ansible_collections.taco.train.plugins.module_utils._ssh.identity import (
    NO_KEYS,
    PUBLIC,
    alone,
    find_identity,
    read,
    write,
)
from ansible_collections.taco.train.plugins.module_utils._ssh.inspection import Inspection, inspect, pid_file_of, runs
from ansible_collections.taco.train.plugins.module_utils._ssh.reason import reason_of

Options = Mapping[str, Any]
TOGETHER = "run ssh_trust for it and for this host in one play, so that each has the keys of the other"
# What helps where a peer can't be reached, by the kind of the reason.
FIXES = {
    "name": "check that ssh reads client_config of this module first, and that no ProxyJump of the user applies to the peer",
    "host_key_changed": TOGETHER + ", and check that no other host has the address of the peer",
    "host_key_unknown": TOGETHER,
    "authentication": TOGETHER,
    "refused": "start its container and run ssh_trust for it: nothing listens on port {port} there, or a firewall rejects it",
    "timeout": "check that the peer is up, and let the firewall or security group pass TCP port {port} between the hosts",
    "route": "check that the peer is up, and that address is one that the hosts reach (taco_interface, ssh_trust_address)",
    "closed": "look at what listens on port {port} of the peer (`ss -ltnp`), and choose a free one as port (taco_ssh_port)",
}
# A message names as many reasons.
MOST_REASONS = 3
MOST_CHARACTERS = 200
ACTIONS = {"running": "left alone", "stale": "restarted", "stopped": "started", "elsewhere": "started"}
# The user's file keeps its mode and its owner, and a link stays one.
INSTALL = """
target=$(readlink -f "$2") && new=$target.taco-train || exit
if test -e "$target"; then cp -p "$target" "$new" && cat "$1" > "$new"; else install -m 0600 "$1" "$new"; fi && mv -f "$new" "$target"
"""


def write_files(
    place: Place, files: Mapping[str, str], folder: str, client_config: str, client_text: Optional[str]
) -> None:
    """Write the files that differ. The server's configuration is tried before it replaces one that works."""
    for path, text in files.items():
        target = path
        if path.endswith("/sshd_config"):
            target = path + ".new"
        write(target, text, PUBLIC)
        if target != path:
            ssh_server.check_config(place, target)
            os.replace(target, path)
    if client_text is not None:
        # The container may be unable to write where the host can and the other way round: hand it over by the folder.
        staged = os.path.join(folder, "client_config")
        write(staged, client_text, PUBLIC)
        if not place.sees(staged):
            raise ssh_server.SshServerError(
                f"{place} does not see {folder}: start it with the mount {folder}:{folder}:ro, as the role "
                "taco.train.training_container does"
            )
        place.run("mkdir", "-p", "-m", "0700", os.path.dirname(client_config))
        done = place.attempt("sh", "-c", INSTALL, "sh", staged, client_config)
        if done.status != 0:
            raise ssh_server.SshServerError(
                f"{client_config} can't be written in {place}: {' '.join(done.stderr.split())}"
            )


def _run_server(place: Place, options: Options, folder: str, state: str) -> None:
    """Make the server run the configuration in the folder."""
    path = os.path.join(folder, "sshd_config")
    config = read(path) or ""
    ssh_server.check_config(place, path)
    if state in ("stale", "elsewhere"):
        ssh_server.stop(place, pid_file_of(options["container"], folder), path, options["address"], options["port"])
    ssh_server.start(place, path, options["address"], options["port"], ssh_files.banner_of(config))


def ensure_trust(options: Options, folder: str, check_mode: bool) -> Dict[str, Any]:
    """Write what differs, run the server, and test the login where that is required."""
    place = Place(options["container"], options["engine_command"])
    with alone(folder, check_mode):
        result, peers, reached = _write_trust(place, options, folder, check_mode)
    if options["prove"] and not check_mode:
        # A login takes up to 10 s and changes nothing here. Meanwhile another run may replace or remove the peers.
        result["proven"] = _prove(place, peers, options)
        with alone(folder, check_mode):
            now = ssh_folder.checksum(read(os.path.join(folder, ssh_folder.PEERS)) or "")
            if reached.split()[0] == now:
                write(os.path.join(folder, ssh_folder.PROOF), reached, PUBLIC)
    unproven = read(os.path.join(folder, ssh_folder.PROOF)) != reached
    return dict(result, unproven=(check_mode and result["changed"]) or unproven)


def _write_trust(
    place: Place, options: Options, folder: str, check_mode: bool
) -> Tuple[Dict[str, Any], List[ssh_files.Peer], str]:
    """Write what differs, run the server, and return the result without a proof, the peers and the text of their proof."""
    identity = find_identity(folder)
    if identity is None:
        if check_mode:
            return dict(changed=True, reason=NO_KEYS, files=[], server="started", proven=[], diff=[]), [], ""
        raise ssh_server.SshServerError(f"there are no keys in {folder}: run ssh_trust with state: identity first")
    found = inspect(place, options, folder, identity)
    if not check_mode:
        place.check()
    client_differs = found.client_text != found.client_before
    checksum = ssh_folder.checksum(found.texts[os.path.join(folder, ssh_folder.PEERS)])
    reached = ssh_folder.proof_text(checksum, place.container_id())
    if not check_mode:
        if found.changed or options["prove"]:
            # First of all: a run that fails or is killed from here on has proven nothing.
            remove_file(os.path.join(folder, ssh_folder.PROOF))
        _stop_moved_server(place, options, folder, found)
        client_text = found.client_text if client_differs else None
        write_files(place, found.differing, folder, options["client_config"], client_text)
        if found.server != "running":
            _run_server(place, options, folder, found.server)
    result = dict(
        changed=found.changed,
        **_reason(found),
        identity=dict(identity, port=options["port"]),
        files=sorted(found.differing) + ([options["client_config"]] if client_differs else []),
        server=ACTIONS[found.server],
        proven=[],
        diff=_diff(found, options["client_config"]),
    )
    return result, found.peers, reached


def _reason(found: Inspection) -> Dict[str, Any]:
    """What differs from the trust that is required, and what its change interrupts."""
    names = sorted(os.path.basename(path) for path in found.differing)
    names += ["the client's configuration"] if found.client_text != found.client_before else []
    reasons = [f"not as the peers require: {', '.join(names)}"] if names else []
    reasons += [f"the SSH server is {found.server}"] if found.server != "running" else []
    interrupts = ["the SSH server of the training container"] if found.server == "stale" else []
    return dict(reason="; ".join(reasons), interrupts=interrupts)


def _diff(found: Inspection, client_config: str) -> List[Dict[str, str]]:
    """Ansible's diff of the files that differ, and of the server."""
    texts = [(path, found.before[path] or "", text) for path, text in sorted(found.differing.items())]
    if found.client_text != found.client_before:
        texts.append((client_config, found.client_before, found.client_text))
    if found.server != "running":
        texts.append(("SSH server", found.server + "\n", "running\n"))
    return [dict(before=before, after=after, before_header=path, after_header=path) for path, before, after in texts]


def _stop_moved_server(place: Place, options: Options, folder: str, found: Inspection) -> None:
    """Stop a server at another address: nobody could stop it once the new one has its place in the pid file."""
    path = os.path.join(folder, "sshd_config")
    old = found.before[path]
    if old and ssh_files.listens_on(old) != ssh_files.listens_on(found.texts[path]) and runs(old):
        pid_file = pid_file_of(options["container"], folder)
        ssh_server.stop(place, pid_file, path, *ssh_files.listens_on(old))


def _prove(place: Place, peers: List[ssh_files.Peer], options: Options) -> List[str]:
    """Log in to every peer. Raises SshServerError with those that can't be reached."""
    names = [peer["name"] for peer in peers]
    # mpirun calls plain ssh, which reads the user's own file. Only another file has to be named.
    # It finds it by the password database; HOME does not matter to it.
    usual = os.path.join(pwd.getpwuid(os.geteuid()).pw_dir, ".ssh", "config")
    arguments = [] if options["container"] or options["client_config"] == usual else ["-F", options["client_config"]]
    problems = ssh_server.unreachable(place, names, arguments)
    if problems:
        ports = {peer["name"]: peer["port"] for peer in peers}
        raise ssh_server.SshServerError(
            f"{len(problems)} of {len(names)} peers can't be reached from {place}: {explained(problems, ports)}"
        )
    return names


def explained(problems: Mapping[str, str], ports: Mapping[str, int]) -> str:
    """Return why peers can't be reached and what helps, from what ssh says of each. Peers with the same reason are named together."""
    reasons = {name: reason_of(message) for name, message in problems.items()}
    parts = []
    for kind in dict.fromkeys(kind for kind, _line in reasons.values()):
        names = [name for name in reasons if reasons[name][0] == kind]
        fix = FIXES.get(kind, "test it with `ssh -v`").format(port=ports[names[0]])
        parts.append(f"{some(names)} ({reasons[names[0]][1][:MOST_CHARACTERS]}): {fix}")
    return some(parts, MOST_REASONS, "; ")

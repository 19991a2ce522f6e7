#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: ssh_trust
short_description: Configure SSH with keys between training containers
version_added: 1.0.0
description:
  - Gives each host a key pair and a host key that never leave it, pins the host keys of all peers, and runs a separate SSH server on one
    address and port. Passwords are disabled.
  - Everything is in the folder C(ssh) in O(state_dir), which the container mounts at the same path. A recreated container keeps the keys;
    only its server is started again.
  - The server's banner carries a checksum of its configuration. The server counts as running when it answers with that banner and the pid
    file in O(container) names a live process of it. A server in another container of the host, such as a training container with a
    previous name, is stopped, and a new one is started in O(container).
requirements:
  - OpenSSH 7.3 or newer in the container
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details: Shows files without secrets only.
  platform:
    platforms: posix
options:
  state:
    type: str
    choices: [identity, trusted, absent]
    default: trusted
    description:
      - V(identity) creates missing keys and returns the public keys.
      - V(trusted) writes the files and runs the server. It needs the keys.
      - V(absent) stops the server and removes the keys and all files.
  container:
    type: str
    default: ""
    description: The container to work in. Empty if SSH runs on the host itself, or in the pod of the task.
  engine_command:
    type: list
    elements: str
    default: [docker]
    description: The command of the container engine.
  peers:
    type: list
    elements: dict
    default: []
    description: The hosts that reach each other, including this one.
    suboptions:
      name:
        type: str
        required: true
        description: Name of the peer for ssh.
      address:
        type: str
        required: true
        description: IP address that its server listens on.
      port:
        type: int
        required: true
        description: Port that its server listens on.
      public_key:
        type: str
        required: true
        description: The public half of its key pair.
      host_key:
        type: str
        required: true
        description: The public half of its host key.
  purge:
    type: bool
    default: true
    description: Whether to remove peers that are not in O(peers). V(false) is for runs on a part of the hosts.
  address:
    type: str
    description: The IP address to listen on. Required with O(state=trusted).
  port:
    type: int
    default: 2222
    description: The port to listen on.
  user:
    type: str
    default: root
    description: The user that logs in.
  client_config:
    type: path
    default: /root/.ssh/config
    description: The user's SSH configuration in the container. A line at its top includes the file of this module.
  prove:
    type: bool
    default: false
    description:
      - Whether to test the login to every peer, as mpirun does, and fail if a peer cannot be reached.
      - The result is stored in O(state_dir). It is valid until something changes on this host, the container is recreated, or a later test
        fails.
  state_dir:
    type: path
    default: /var/lib/taco-train
    description: Folder on the host for the state that outlives a run.
"""

EXAMPLES = r"""
- name: Make the keys
  taco.train.ssh_trust:
    state: identity
  register: identity

- name: Trust every host of the play
  taco.train.ssh_trust:
    container: taco-train
    address: 10.0.2.8
    peers:
      - name: gpu1
        address: 10.0.2.8
        port: 2222
        public_key: "{{ hostvars['gpu1'].identity.identity.public_key }}"
        host_key: "{{ hostvars['gpu1'].identity.identity.host_key }}"

- name: Prove that every host can be reached
  taco.train.ssh_trust:
    container: taco-train
    address: 10.0.2.8
    purge: false
    prove: true
"""

RETURN = r"""
identity:
  description: The public halves of this host's keys and its port. Private halves are never returned.
  returned: success, unless O(state=absent), or under check mode with keys missing
  type: dict
  contains:
    public_key: {description: Public half of the key pair., type: str, returned: always}
    host_key: {description: Public half of the host key., type: str, returned: always}
    port: {description: Port of the server., type: int, returned: always}
  sample: {public_key: ssh-ed25519 AAAA, host_key: ssh-ed25519 AAAA, port: 2222}
files:
  description: The files that differed.
  returned: success
  type: list
  elements: str
  sample: [/var/lib/taco-train/ssh/known_hosts]
server:
  description: The action on the server.
  returned: success
  type: str
  sample: started
unproven:
  description: Whether the test with O(prove) is still necessary for these peers.
  returned: success with O(state=trusted)
  type: bool
  sample: false
proven:
  description: The reached peers.
  returned: success
  type: list
  elements: str
  sample: [gpu1, gpu2]
"""

import json
import os
import pwd
import shutil

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError, remove_file
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import FoldersError
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.place import Place, PlaceError
from ansible_collections.taco.train.plugins.module_utils._ssh import files as ssh_files
from ansible_collections.taco.train.plugins.module_utils._ssh import folder as ssh_folder
from ansible_collections.taco.train.plugins.module_utils._ssh import server as ssh_server
from ansible_collections.taco.train.plugins.module_utils._ssh.identity import (
    KEYS,
    PUBLIC,
    alone,
    ensure_identity,
    find_identity,
    identity_text,
    read,
    write,
)

# The container can't write to the folder that it shares with the host.
CONTAINER_PID_FILE = "/run/taco-train-sshd.pid"


def wanted_files(options, folder, identity, pid_file):
    """Return {path: text} of every file in the folder, and the peers."""
    known = json.loads(read(os.path.join(folder, ssh_folder.PEERS)) or "[]")
    peers = ssh_files.merged_peers(known, options["peers"], options["purge"])
    texts = {
        "authorized_keys": ssh_files.authorized_keys(peers),
        "known_hosts": ssh_files.known_hosts(peers),
        "config": ssh_files.client_config(peers, folder, options["user"]),
        ssh_folder.IDENTITY: identity_text(identity, options["port"]),
        ssh_folder.PEERS: json.dumps(peers, indent=1, sort_keys=True) + "\n",
        "sshd_config": ssh_files.sshd_config(
            options["address"], options["port"], options["user"], folder, pid_file, identity["host_key"]
        ),
    }
    return {os.path.join(folder, name): text for name, text in texts.items()}, peers


def write_files(place, files, folder, client_config, client_text):
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
        place.run("install", "-m", "0600", staged, client_config)


def runs(config):
    """Say whether a server with this configuration, or with none, listens where it says."""
    if config is None:
        return False
    return ssh_files.judge_banner(ssh_server.read_banner(*ssh_files.listens_on(config)), config) == "running"


def judge_server(place, options, config, folder, pid_file):
    """The result of judge_banner, or V(elsewhere) for a server of ours that doesn't run in this place."""
    banner = ssh_server.read_banner(options["address"], options["port"])
    judged = ssh_files.judge_banner(banner, config)
    if judged == "foreign":
        raise ssh_server.SshServerError(
            f"port {options['port']} on {options['address']} is taken by something else (it says {banner!r}): "
            "set taco_ssh_port to a free port"
        )
    # All containers that share the host's network share its addresses, so the banner doesn't tell whose server answers.
    if judged != "stopped" and ssh_server.process(place, pid_file, os.path.join(folder, "sshd_config")) is None:
        return "elsewhere"
    return judged


def run_server(place, options, folder, pid_file, judged):
    """Make the server run the configuration in the folder."""
    path = os.path.join(folder, "sshd_config")
    config = read(path)
    ssh_server.check_config(place, path)
    if judged in ("stale", "elsewhere"):
        ssh_server.stop(place, pid_file, path, options["address"], options["port"])
    ssh_server.start(place, path, options["address"], options["port"], ssh_files.banner_of(config))


def ensure_trust(options, folder, check_mode):
    """Write what differs, run the server, and prove it when asked."""
    place = Place(options["container"], options["engine_command"])
    with alone(folder, check_mode):
        result, peers, reached = write_trust(place, options, folder, check_mode)
    if options["prove"] and not check_mode:
        # A login takes up to 10 s and changes nothing here. Meanwhile another run may replace or remove the peers.
        result["proven"] = prove(place, peers, options)
        with alone(folder, check_mode):
            now = ssh_folder.checksum(read(os.path.join(folder, ssh_folder.PEERS)) or "")
            if reached.split()[0] == now:
                write(os.path.join(folder, ssh_folder.PROOF), reached, PUBLIC)
    unproven = read(os.path.join(folder, ssh_folder.PROOF)) != reached
    return dict(result, unproven=(check_mode and result["changed"]) or unproven)


def write_trust(place, options, folder, check_mode):
    """Write what differs, run the server, and return the result without a proof, the peers and the text of their proof."""
    identity = find_identity(folder)
    if identity is None:
        if check_mode:
            return dict(changed=True, files=[], server="started", proven=[], diff=[]), [], ""
        raise ssh_server.SshServerError(f"there are no keys in {folder}: run ssh_trust with state: identity first")
    pid_file = CONTAINER_PID_FILE if options["container"] else os.path.join(folder, "sshd.pid")
    texts, peers = wanted_files(options, folder, identity, pid_file)
    before = {path: read(path) for path in texts}
    files = {path: text for path, text in texts.items() if before[path] != text}

    config = texts[os.path.join(folder, "sshd_config")]
    judged = judge_server(place, options, config, folder, pid_file)
    if not check_mode:
        place.check()
    own = place.read(options["client_config"])
    client_text = ssh_files.with_include(own, os.path.join(folder, "config"))
    if client_text == own:
        client_text = None

    changed_files = sorted(files) + ([options["client_config"]] if client_text is not None else [])
    server = {"running": "left alone", "stale": "restarted", "stopped": "started", "elsewhere": "started"}[judged]
    diff = [
        dict(before=before[path] or "", after=text, before_header=path, after_header=path)
        for path, text in sorted(files.items())
    ]
    if client_text is not None:
        header = options["client_config"]
        diff.append(dict(before=own, after=client_text, before_header=header, after_header=header))
    changed = bool(changed_files) or judged != "running"
    proof = os.path.join(folder, ssh_folder.PROOF)
    checksum = ssh_folder.checksum(texts[os.path.join(folder, ssh_folder.PEERS)])
    reached = ssh_folder.proof_text(checksum, place.container_id())
    old = before[os.path.join(folder, "sshd_config")]
    if not check_mode:
        if changed or options["prove"]:
            # First of all: a run that fails or is killed from here on has proven nothing.
            remove_file(proof)
        if old and ssh_files.listens_on(old) != ssh_files.listens_on(config) and runs(old):
            # At another address it would be nobody's once the new one has its place in the pid file.
            ssh_server.stop(place, pid_file, os.path.join(folder, "sshd_config"), *ssh_files.listens_on(old))
        write_files(place, files, folder, options["client_config"], client_text)
        if judged != "running":
            run_server(place, options, folder, pid_file, judged)
    result = dict(
        changed=changed,
        identity=dict(identity, port=options["port"]),
        files=changed_files,
        server=server,
        proven=[],
        diff=diff,
    )
    return result, peers, reached


def prove(place, peers, options):
    """Log in to every peer, or say which can't be reached."""
    names = [peer["name"] for peer in peers]
    # mpirun calls plain ssh, which reads the user's own file. Only another file has to be named.
    # It finds it by the password database; HOME does not matter to it.
    usual = os.path.join(pwd.getpwuid(os.geteuid()).pw_dir, ".ssh", "config")
    arguments = [] if options["container"] or options["client_config"] == usual else ["-F", options["client_config"]]
    problems = ssh_server.unreachable(place, names, arguments)
    if problems:
        raise ssh_server.SshServerError(
            f"{len(problems)} of {len(names)} peers can't be reached from {place}: {'; '.join(problems)}. Check that port "
            f"{options['port']} (taco_ssh_port) is open between the hosts and that ssh_trust ran on all of them"
        )
    return names


def ensure_absence(options, folder, check_mode):
    """Stop the server and remove the keys and files."""
    with alone(folder, check_mode):
        return remove_trust(options, folder, check_mode)


def remove_trust(options, folder, check_mode):
    """Do as much of it as can be done, and name what could not be done."""
    place = Place(options["container"], options["engine_command"])
    config = read(os.path.join(folder, "sshd_config"))
    pid_file = CONTAINER_PID_FILE if options["container"] else os.path.join(folder, "sshd.pid")
    running = runs(config)
    client = place.read(options["client_config"])
    kept = ssh_files.without_include(client, os.path.join(folder, "config"))
    # The folder itself stays: a container that runs would go on seeing the one that was removed.
    present = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    if not check_mode:
        steps = []
        if kept != client:
            steps.append(
                (options["client_config"], lambda: write_files(place, {}, folder, options["client_config"], kept))
            )
        if running:
            path = os.path.join(folder, "sshd_config")
            steps.append(
                ("the SSH server", lambda: ssh_server.stop(place, pid_file, path, *ssh_files.listens_on(config)))
            )
        problems = attempts(steps)
        # The next run finds a server that goes on running by these, and the server can't answer without its key.
        staying = ("sshd_config", "sshd.pid", KEYS["host_key"]) if problems else ()
        names = [name for name in os.listdir(folder) if name not in staying] if os.path.isdir(folder) else []
        problems += attempts([(os.path.join(folder, name), remover(os.path.join(folder, name))) for name in names])
        if problems:
            raise ssh_server.SshServerError(
                f"not all of it could be removed: {'; '.join(problems)}. Correct that and run this again: it goes on from there"
            )
    files = [os.path.join(folder, name) for name in present] + ([options["client_config"]] if kept != client else [])
    server = "stopped" if running else "left alone"
    return dict(changed=bool(files) or running, files=files, server=server, proven=[], diff=[])


def remover(path):
    """A function that removes a file, or the folder of a key that was not finished."""
    return lambda: shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else remove_file(path)


def attempts(steps):
    """Do every step, and describe those that failed. A step is a name and a function."""
    problems = []
    for name, act in steps:
        try:
            act()
        except (PlaceError, FileError, OSError) as error:
            problems.append(f"{name} ({error})")
    return problems


STATES = {"identity": ensure_identity, "trusted": ensure_trust, "absent": ensure_absence}


def main():
    peer = dict(
        name=dict(type="str", required=True),
        address=dict(type="str", required=True),
        port=dict(type="int", required=True),
        public_key=dict(type="str", required=True, no_log=False),
        host_key=dict(type="str", required=True, no_log=False),
    )
    module = AnsibleModule(
        argument_spec=dict(
            state=dict(type="str", choices=["identity", "trusted", "absent"], default="trusted"),
            container=dict(type="str", default=""),
            engine_command=dict(type="list", elements="str", default=["docker"]),
            peers=dict(type="list", elements="dict", default=[], options=peer),
            purge=dict(type="bool", default=True),
            address=dict(type="str"),
            port=dict(type="int", default=2222),
            user=dict(type="str", default="root"),
            client_config=dict(type="path", default="/root/.ssh/config"),
            prove=dict(type="bool", default=False),
            state_dir=dict(type="path", default="/var/lib/taco-train"),
        ),
        required_if=[("state", "trusted", ["address"])],
        supports_check_mode=True,
    )
    options = module.params
    folder = os.path.join(options["state_dir"], ssh_folder.FOLDER)
    try:
        result = STATES[options["state"]](options, folder, module.check_mode)
    except (ssh_files.SshFilesError, PlaceError, FileError, FoldersError, OSError, ValueError) as error:
        module.fail_json(msg=failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

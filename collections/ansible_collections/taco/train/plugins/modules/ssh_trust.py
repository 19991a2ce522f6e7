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
  - Fails, and changes nothing, where the folder holds files with these names that this module did not write. V(absent) leaves such files,
    and files with other names, as they are.
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
- name: Create the SSH keys
  taco.train.ssh_trust:
    state: identity
  register: identity

- name: Trust the public keys of all hosts
  taco.train.ssh_trust:
    container: taco-train
    address: 10.0.2.8
    peers:
      - name: gpu1
        address: 10.0.2.8
        port: 2222
        public_key: "{{ hostvars['gpu1'].identity.identity.public_key }}"
        host_key: "{{ hostvars['gpu1'].identity.identity.host_key }}"

- name: Verify the login to every host
  taco.train.ssh_trust:
    container: taco-train
    address: 10.0.2.8
    purge: false
    prove: true
"""

RETURN = r"""
reason:
  description: What differed from the required trust.
  returned: success
  type: str
  sample: "not as the peers require: authorized_keys, known_hosts; the SSH server is stopped"
interrupts:
  description: What the change interrupts.
  returned: success, unless O(state=identity)
  type: list
  elements: str
  sample: [the SSH server of the training container]
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

import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._files.atomic import FileError
from ansible_collections.taco.train.plugins.module_utils._files.created_folders import FoldersError
from ansible_collections.taco.train.plugins.module_utils._process.failure import failure
from ansible_collections.taco.train.plugins.module_utils._process.place import PlaceError
from ansible_collections.taco.train.plugins.module_utils._ssh.files import SshFilesError
from ansible_collections.taco.train.plugins.module_utils._ssh.folder import FOLDER, foreign_files, foreign_refusal
from ansible_collections.taco.train.plugins.module_utils._ssh.identity import ensure_identity
from ansible_collections.taco.train.plugins.module_utils._ssh.removal import ensure_absence
from ansible_collections.taco.train.plugins.module_utils._ssh.trust import ensure_trust

STATES = {"identity": ensure_identity, "trusted": ensure_trust, "absent": ensure_absence}
PEER = dict(
    name=dict(type="str", required=True),
    address=dict(type="str", required=True),
    port=dict(type="int", required=True),
    public_key=dict(type="str", required=True, no_log=False),
    host_key=dict(type="str", required=True, no_log=False),
)


def main():
    module = AnsibleModule(
        supports_check_mode=True,
        argument_spec=dict(
            state=dict(type="str", choices=["identity", "trusted", "absent"], default="trusted"),
            container=dict(type="str", default=""),
            engine_command=dict(type="list", elements="str", default=["docker"]),
            peers=dict(type="list", elements="dict", default=[], options=PEER),
            purge=dict(type="bool", default=True),
            address=dict(type="str"),
            port=dict(type="int", default=2222),
            user=dict(type="str", default="root"),
            client_config=dict(type="path", default="/root/.ssh/config"),
            prove=dict(type="bool", default=False),
            state_dir=dict(type="path", default="/var/lib/taco-train"),
        ),
        required_if=[("state", "trusted", ["address"])],
    )
    options = module.params
    folder = os.path.join(options["state_dir"], FOLDER)
    try:
        foreign = foreign_files(folder)
        if foreign and options["state"] != "absent":
            raise SshFilesError(foreign_refusal(folder, foreign))
        result = STATES[options["state"]](options, folder, module.check_mode)
    except (SshFilesError, PlaceError, FileError, FoldersError, OSError, ValueError) as error:
        module.fail_json(msg=failure(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin that ssh reports, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

# Without it ssh has used another key.
REFUSED = r"Permission denied \("
# The host that the key was for.
LOGIN = r"(?:[\w.-]+@)?(?P<host>[\w.-]+): Permission denied \(|ssh not successful for host (?P<host2>[\w.-]+)"
SSH = table(
    r"""
ssh_absent
  pattern (?:ssh|rsh)(?:'|\u2019)?: (?:command not found|not found$)|(?P<program>\S*\bsshd): (?:No such file|command not found|not found)
          |exec: "?ssh"?: executable file not found|launch agent.{0,40}could not be found|plm_(?:rsh|ssh)_agent" was set to a path
  found   there is no ssh ({program}) in the training image
  fix     use a taco_image with openssh-client and openssh-server
# A name has no colon: it is what follows -H for an mpirun that knows no slots there.
mpirun_argument
  pattern Could not resolve hostname (?P<name>[\w.-]+:\d+)(?::|\b)
  found   mpirun took {name}, a host and its slots, for the name of a host: it is an old Open MPI, or another MPI
  fix     set benchmark_mpirun to the path of Open MPI 4 or 5 (mpirun --version), and remove the other mpirun from PATH in taco_image
# Hydra's proxies go back to the launcher by its own name.
mpi_resolve
  pattern \[proxy:[\d:]+@(?P<host>[\w.-]+)\] .{1,80}unable to get host address for (?P<peer>[\w.-]+)
          |unable to get host address for (?P<peer2>[\w.-]+)|gethostbyname.{0,40}(?P<peer3>[\w.-]+) .{0,40}(?:failed|not known)
  found   the name {peer} of the launcher can't be resolved on another host
  fix     give each host's own name (hostname) an address in /etc/hosts or the DNS of all hosts
ssh_resolve
  pattern Could not resolve hostname (?P<host>[^\s:]+): (?P<why>Temporary failure in name resolution|Try again)
  found   the name of {host} can't be resolved: the launcher's name server does not answer ({why})
  fix     check the name server of the launcher (/etc/resolv.conf in its container, getent hosts NAME), or run the ssh_trust role, and set
          benchmark_hosts to names from the inventory
ssh_resolve
  pattern Could not resolve hostname (?P<host>[^\s:]+)|getaddrinfo(?:\(\))? (?:failed )?(?:for )?(?P<other>[\w.-]*).{0,40}
          (?:Name or service not known|Temporary failure in name resolution)|(?:unknown host|cannot resolve):? (?P<third>[\w.-]+)
  found   the host {host}{other}{third} is not known to the launcher's ssh: its name can't be resolved
  fix     set benchmark_hosts to names from the inventory, or run the ssh_trust role for it
# Nothing answers: the packets are dropped.
ssh_connect
  pattern ssh: connect to host (?P<host>\S+) port (?P<port>\d+): (?P<why>(?:Connection|Operation) timed out.{0,80})
  found   ssh to {host} on port {port} failed ({why})
  fix     allow this port between the hosts (firewall, security group: it drops the packets), and check that the host is up and its address
          the one on the hosts' common network (getent hosts NAME, taco_interface, taco_ssh_port)
# The host answers that nobody listens there.
ssh_connect
  pattern ssh: connect to host (?P<host>\S+) port (?P<port>\d+): (?P<why>Connection refused.{0,80})
  found   ssh to {host} on port {port} failed ({why})
  fix     start sshd on this port of the host: it must run in the training container there (role ssh_trust), and taco_ssh_port must be its
          port; a firewall that rejects says the same
ssh_connect
  pattern ssh: connect to host (?P<host>\S+) port (?P<port>\d+): (?P<why>(?:No route to host|Network is (?:unreachable|down)
          |Host is (?:down|unreachable)).{0,80})
  found   ssh to {host} on port {port} failed ({why})
  fix     check that the host is up, that the launcher has a route to its address (ip route get ADDRESS; taco_interface), and that no
          firewall rejects the port
ssh_connect
  pattern ssh: connect to host (?P<host>\S+) port (?P<port>\d+): (?P<why>.{0,80})
  found   ssh to {host} on port {port} failed ({why})
  fix     check on the launcher the address of the host (getent hosts NAME), the route to it, and what its own firewall or policy forbids;
          then run the ssh_trust role
ssh_reach
  pattern host=(?P<host>[\w.-]+) was not reachable via ssh|SSH was not successful on host (?P<host2>[\w.-]+)
          |Command 'ssh (?:-\S+ (?:\w+=\S+ )?){1,8}(?:-p \d+ )?(?P<host3>[\w.-]+) hostname' returned non-zero exit status 255
  found   {host} can't be reached by ssh, or lets nobody in without a password
  fix     run the ssh_trust role, and check taco_ssh_port and taco_interface
# The program that listens there is not sshd.
ssh_other_server
  pattern banner line contains invalid characters|Bad remote protocol version identification|Protocol major versions differ
          |Bad packet length \d+
  found   what listens at the port is not sshd, or something on the way changes its data
  fix     look at what listens there (ss -ltnp on that host), and set taco_ssh_port to the port of sshd in the training container
  near    (?:Connection (?:closed|reset) by|Connection to) (?P<host>[\d.:a-f]+|\S+) port
ssh_no_job
  pattern Access denied by pam_slurm(?:_adopt)?\b|you have no active jobs on this node
  found   a host does not let ssh in, because the user has no job of Slurm there
  fix     set benchmark_hosts to the hosts of the job (scontrol show hostnames), and start while the job is running
  near    (?:Connection (?:closed|reset) by|Connection to) (?P<host>[\d.:a-f]+|\S+) port
# After the login: the host or the way to it is gone.
ssh_closed
  pattern client_loop: send disconnect: (?P<why>.{1,60})|packet_write_wait: Connection to (?P<host>\S+) port \d+: (?P<why2>Broken pipe)
          |^Connection to (?P<host3>\S+) closed by remote host|Read from remote host (?P<host4>[\w.:-]+): (?P<why4>.{1,60})
  found   ssh lost its connection to a host ({why})
  fix     look at that host: it is down or cut off, or its sshd or container was ended; for connections that a firewall ends when they are
          idle set ServerAliveInterval 30 in ssh_config
ssh_start
  pattern sshd: no hostkeys available|(?P<what>Missing privilege separation directory: \S+)
  found   sshd can't start in a container ({what}): it lacks its host keys or its folder
  fix     run ssh-keygen -A and mkdir -p /run/sshd in taco_image before sshd starts (role ssh_trust)
ssh_start
  pattern (?P<what>Bind to port (?P<port>\d+) on \S+ failed: .{1,60}|Cannot bind any address
          |\S+ must be owned by root and not group or world-writable)
  found   sshd can't start on a host ({what})
  fix     end the sshd or the other program that has the port (ss -ltnp), or set taco_ssh_port to another one; start sshd as root, and let
          only root write to its folder
ssh_closed
  pattern (?:kex_exchange_identification|ssh_exchange_identification|ssh_dispatch_run_fatal|banner exchange): (?P<why>.{1,160})
          |^Connection (?:closed|reset) by (?:remote host |authenticating user \S+ )?(?P<host>[\d.:a-f]+) port \d+
          |Connection timed out during banner exchange|^Connection to (?P<third>\S+) port \d+ timed out|past MaxStartups
          |MaxStartups throttling
  found   the ssh server ended the connection ({why})
  fix     check that sshd runs in the training container of that host (role ssh_trust), and set MaxStartups there to more than the number of
          hosts
  near    (?:Connection (?:closed|reset) by|Connection to) (?P<host>[\d.:a-f]+|\S+) port
ssh_host_key
  pattern REMOTE HOST IDENTIFICATION HAS CHANGED
  found   ssh refused a host's key, which is not the one that it knows ({file})
  fix     <<TRUST>>
  near    Offending (?:\S+ )?key in (?P<file>\S+)(?:\n.{0,200}){1,8}?[Hh]ost key (?:for|is known for) \[?(?P<host>[\w.-]+)
          |[Hh]ost key (?:for|is known for) \[?(?P<host2>[\w.-]+)\]?
ssh_host_key
  pattern Host key verification failed
  found   ssh does not know a host's key, or knows another one
  fix     <<TRUST>>
  near    [Hh]ost key (?:for|is known for) \[?(?P<host>[\w.-]+)\]?|authenticity of host '\[?(?P<host2>[\w.-]+)
ssh_algorithms
  pattern Unable to negotiate with (?P<host>\S+) port \d+: (?P<why>[^.]{1,160})
  found   two versions of ssh have nothing in common ({why})
  fix     run the same taco_image on every host, and the ssh_trust role
ssh_config
  pattern (?P<file>/\S{1,200}): line (?P<line>\d+): Bad configuration option: (?P<option>\S+)|Bad configuration option: (?P<option2>\S+)
          |^command-line: line 0: (?P<option3>.{1,80})
  found   ssh does not know an option of its configuration ({option} {file})
  fix     take {option} out of {file}, or use a taco_image with a newer ssh
# A container that was started with a user of the host.
user_absent
  pattern No user exists for uid (?P<uid>\d+)|unknown userid (?P<uid2>\d+)
          |You don't exist, go away|The user \((?P<uid3>\d+)\) is unknown to the system|unable to obtain the username in order to create
          |getpwuid\(\): uid not found: (?P<uid4>\d+)|cannot find name for user ID (?P<uid5>\d+)(?=.{0,10}ssh)
  found   the user of the run has no name in the container (uid {uid})
  fix     add the user to /etc/passwd of taco_image or mount that of the host, or run the container as root
ssh_account
  pattern (?P<why>This account is (?:currently )?not available|(?:Your )?(?:password|account) has expired
          |You are required to change your password|User \S+ (?:from \S+ )?not allowed because account is locked)
  found   ssh was not let in: the account on the other host can't log in ({why})
  fix     give the user a login shell and a valid account there (getent passwd USER, chage -l USER, passwd -S USER), in taco_image or on the
          host
  near    <<LOGIN>>
ssh_key
  pattern Too many authentication failures
  found   ssh was not let in: it offered more keys than the server tries
  fix     set IdentitiesOnly yes and the one IdentityFile in ssh_config (role ssh_trust), or remove other keys from the agent (ssh-add -D)
  near    (?:from|by|to) (?:authenticating user \S+ )?(?P<host>[\d.:a-f]+|[\w.-]+) port \d+
ssh_key
  pattern Authentication refused: bad ownership or modes for \w+ (?P<file>\S+)
  found   sshd ignores the keys of the user, because others may write to {file}
  fix     set the owner and the mode there: chown USER {file}, chmod go-w {file} (home and .ssh 0700, authorized_keys 0600)
ssh_key
  pattern (?P<why>no mutual signature (?:algorithm|supported)|key type \S+ not in PubkeyAccepted\w+|send_pubkey_test: no mutual)
  found   ssh was not let in: the server does not accept the kind of the key ({why})
  fix     make a key of the kind ed25519 (role ssh_trust), or run the same taco_image, with one version of ssh, on every host
  near    <<LOGIN>>
# The line of a banner that has the file and its mode.
ssh_key
  pattern Permissions (?P<mode>\d{3,4}) for '(?P<file>[^']{1,300})' are too open
          |Load key "?(?P<file2>[^":]{1,300})"?: (?P<mode2>bad permissions)
  found   ssh was not let in: it ignores the launcher's key {file}, because others may read it ({mode})
  fix     set the mode of {file} on the launcher to 0600, with its user as the owner: chmod 600 {file}, or the ssh_trust role; in a pod set
          defaultMode 0600 for the Secret's volume, and no fsGroup, which adds rights
  near    <<LOGIN>>
  context <<REFUSED>>
ssh_key
  pattern Bad owner or permissions on (?P<file>\S+)
  found   ssh does not read {file}: it belongs to another user, or others may write to it
  fix     set its owner to the user of ssh and its mode to 0600 (chown, chmod 600 {file}), in taco_image or where it is mounted
  near    <<LOGIN>>
ssh_key
  pattern Load key "?(?P<file>[^":]{1,300})"?: (?P<why>invalid format|error in libcrypto|Permission denied|No such file)
  found   ssh was not let in: it can't use the launcher's key {file} ({why})
  fix     write the key {file} again (role ssh_trust; in pods the Secret of the job): the private key, with its last line break, and
          readable for the user of ssh
  near    <<LOGIN>>
  context <<REFUSED>>
ssh_key
  pattern (?:Warning: Identity file|no such identity:) (?P<file>\S{1,300}?):? (?:not accessible: )?No such file
  found   ssh was not let in: the launcher has no key {file}
  fix     write the key to {file} (role ssh_trust; in pods the Secret of the job), or name the right file in ssh's configuration
  near    <<LOGIN>>
  context <<REFUSED>>
ssh_key
  pattern (?:(?:[\w.-]+@)?(?P<host>[\w.-]+): )?Permission denied \((?P<why>[a-z][^)]*)\)|sign_and_send_pubkey: signing failed.{0,60}
          |UNPROTECTED PRIVATE KEY FILE
  found   ssh was not let in ({why})
  fix     <<TRUST>>
  near    [\w.-]+@(?P<host>[\w.-]+)'s password|ssh not successful for host (?P<host2>[\w.-]+)
ssh_key
  pattern Permission denied, please try again
  found   ssh was not let in
  fix     <<TRUST>>
ssh_password
  pattern ^[\w.-]+@(?P<host>[\w.-]+)'s password:|Are you sure you want to continue connecting
  found   ssh asked for a password or a confirmation, which nobody can give
  fix     <<TRUST>>
""",
    LOGIN=LOGIN,
    REFUSED=REFUSED,
)

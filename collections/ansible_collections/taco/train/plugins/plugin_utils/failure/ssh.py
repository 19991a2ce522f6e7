# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin that ssh reports, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import TRUST, cause

# The host that the key was for.
# Without it ssh has used another key.
REFUSED = r"Permission denied \("
LOGIN = r"(?:[\w.-]+@)?(?P<host>[\w.-]+): Permission denied \(|ssh not successful for host (?P<host2>[\w.-]+)"
SSH = [
    cause(
        "ssh_absent",
        r"(?:ssh|rsh)(?:'|\u2019)?: (?:command not found|not found$)|(?P<program>\S*\bsshd): (?:No such file|command not found|not found)|"
        r"exec: \"?ssh\"?: executable file not found|launch agent.{0,40}could not be found|plm_(?:rsh|ssh)_agent\" was set to a path",
        "there is no ssh ({program}) in the training image",
        "use a taco_image with openssh-client and openssh-server",
    ),
    cause(
        # A name has no colon: it is what follows -H for an mpirun that knows no slots there.
        "mpirun_argument",
        r"Could not resolve hostname (?P<name>[\w.-]+:\d+)(?::|\b)",
        "mpirun took {name}, a host and its slots, for the name of a host: it is an old Open MPI, or another MPI",
        "set benchmark_mpirun to the path of Open MPI 4 or 5 (mpirun --version), and remove the other mpirun from PATH in taco_image",
    ),
    cause(
        # Hydra's proxies go back to the launcher by its own name.
        "mpi_resolve",
        r"\[proxy:[\d:]+@(?P<host>[\w.-]+)\] .{1,80}unable to get host address for (?P<peer>[\w.-]+)|"
        r"unable to get host address for (?P<peer2>[\w.-]+)|gethostbyname.{0,40}(?P<peer3>[\w.-]+) .{0,40}(?:failed|not known)",
        "the name {peer} of the launcher can't be resolved on another host",
        "give each host's own name (hostname) an address in /etc/hosts or the DNS of all hosts",
    ),
    cause(
        "ssh_resolve",
        r"Could not resolve hostname (?P<host>[^\s:]+): (?P<why>Temporary failure in name resolution|Try again)",
        "the name of {host} can't be resolved: the launcher's name server does not answer ({why})",
        "check the name server of the launcher (/etc/resolv.conf in its container, getent hosts NAME), or run the ssh_trust role, and set "
        "benchmark_hosts to names from the inventory",
    ),
    cause(
        "ssh_resolve",
        r"Could not resolve hostname (?P<host>[^\s:]+)|getaddrinfo(?:\(\))? (?:failed )?(?:for )?(?P<other>[\w.-]*).{0,40}(?:Name or "
        r"service not known|Temporary failure in name resolution)|(?:unknown host|cannot resolve):? (?P<third>[\w.-]+)",
        "the host {host}{other}{third} is not known to the launcher's ssh: its name can't be resolved",
        "set benchmark_hosts to names from the inventory, or run the ssh_trust role for it",
    ),
    *(
        cause(
            "ssh_connect",
            rf"ssh: connect to host (?P<host>\S+) port (?P<port>\d+): (?P<why>{why}.{{0,80}})",
            "ssh to {host} on port {port} failed ({why})",
            fix,
        )
        for why, fix in (
            (
                # Nothing answers: the packets are dropped.
                r"(?:Connection|Operation) timed out",
                "allow this port between the hosts (firewall, security group: it drops the packets), and check that the host is "
                "up and its address the one on the hosts' common network (getent hosts NAME, taco_interface, taco_ssh_port)",
            ),
            (
                # The host answers that nobody listens there.
                r"Connection refused",
                "start sshd on this port of the host: it must run in the training container there (role ssh_trust), and "
                "taco_ssh_port must be its port; a firewall that rejects says the same",
            ),
            (
                r"(?:No route to host|Network is (?:unreachable|down)|Host is (?:down|unreachable))",
                "check that the host is up, that the launcher has a route to its address (ip route get ADDRESS; taco_interface), and that "
                "no firewall rejects the port",
            ),
            (
                r"",
                "check on the launcher the address of the host (getent hosts NAME), the route to it, and what its own firewall or policy "
                "forbids; then run the ssh_trust role",
            ),
        )
    ),
    cause(
        "ssh_reach",
        r"host=(?P<host>[\w.-]+) was not reachable via ssh|SSH was not successful on host (?P<host2>[\w.-]+)|"
        r"Command 'ssh (?:-\S+ (?:\w+=\S+ )?){1,8}(?:-p \d+ )?(?P<host3>[\w.-]+) hostname' returned non-zero exit status 255",
        "{host} can't be reached by ssh, or lets nobody in without a password",
        "run the ssh_trust role, and check taco_ssh_port and taco_interface",
    ),
    cause(
        # The program that listens there is not sshd.
        "ssh_other_server",
        r"banner line contains invalid characters|Bad remote protocol version identification|Protocol major versions differ|"
        r"Bad packet length \d+",
        "what listens at the port is not sshd, or something on the way changes its data",
        "look at what listens there (ss -ltnp on that host), and set taco_ssh_port to the port of sshd in the training container",
        r"(?:Connection (?:closed|reset) by|Connection to) (?P<host>[\d.:a-f]+|\S+) port",
    ),
    cause(
        "ssh_no_job",
        r"Access denied by pam_slurm(?:_adopt)?\b|you have no active jobs on this node",
        "a host does not let ssh in, because the user has no job of Slurm there",
        "set benchmark_hosts to the hosts of the job (scontrol show hostnames), and start while the job is running",
        r"(?:Connection (?:closed|reset) by|Connection to) (?P<host>[\d.:a-f]+|\S+) port",
    ),
    cause(
        # After the login: the host or the way to it is gone.
        "ssh_closed",
        r"client_loop: send disconnect: (?P<why>.{1,60})|packet_write_wait: Connection to (?P<host>\S+) port \d+: (?P<why2>Broken pipe)|"
        r"^Connection to (?P<host3>\S+) closed by remote host|Read from remote host (?P<host4>[\w.:-]+): (?P<why4>.{1,60})",
        "ssh lost its connection to a host ({why})",
        "look at that host: it is down or cut off, or its sshd or container was ended; for connections that a firewall ends when they are "
        "idle set ServerAliveInterval 30 in ssh_config",
    ),
    cause(
        "ssh_start",
        r"sshd: no hostkeys available|(?P<what>Missing privilege separation directory: \S+)",
        "sshd can't start in a container ({what}): it lacks its host keys or its folder",
        "run ssh-keygen -A and mkdir -p /run/sshd in taco_image before sshd starts (role ssh_trust)",
    ),
    cause(
        "ssh_start",
        r"(?P<what>Bind to port (?P<port>\d+) on \S+ failed: .{1,60}|Cannot bind any address|\S+ must be owned by root and not group "
        r"or world-writable)",
        "sshd can't start on a host ({what})",
        "end the sshd or the other program that has the port (ss -ltnp), or set taco_ssh_port to another one; start sshd as root, and let "
        "only root write to its folder",
    ),
    cause(
        "ssh_closed",
        r"(?:kex_exchange_identification|ssh_exchange_identification|ssh_dispatch_run_fatal|banner exchange): (?P<why>.{1,160})|"
        r"^Connection (?:closed|reset) by (?:remote host |authenticating user \S+ )?(?P<host>[\d.:a-f]+) port \d+|Connection timed out "
        r"during banner exchange|^Connection to (?P<third>\S+) port \d+ timed out|past MaxStartups|MaxStartups throttling",
        "the ssh server ended the connection ({why})",
        "check that sshd runs in the training container of that host (role ssh_trust), and set MaxStartups there to more than the number "
        "of hosts",
        r"(?:Connection (?:closed|reset) by|Connection to) (?P<host>[\d.:a-f]+|\S+) port",
    ),
    cause(
        "ssh_host_key",
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "ssh refused a host's key, which is not the one that it knows ({file})",
        TRUST,
        r"Offending (?:\S+ )?key in (?P<file>\S+)(?:\n.{0,200}){1,8}?[Hh]ost key (?:for|is known for) \[?(?P<host>[\w.-]+)|"
        r"[Hh]ost key (?:for|is known for) \[?(?P<host2>[\w.-]+)\]?",
    ),
    cause(
        "ssh_host_key",
        r"Host key verification failed",
        "ssh does not know a host's key, or knows another one",
        TRUST,
        r"[Hh]ost key (?:for|is known for) \[?(?P<host>[\w.-]+)\]?|authenticity of host '\[?(?P<host2>[\w.-]+)",
    ),
    cause(
        "ssh_algorithms",
        r"Unable to negotiate with (?P<host>\S+) port \d+: (?P<why>[^.]{1,160})",
        "two versions of ssh have nothing in common ({why})",
        "run the same taco_image on every host, and the ssh_trust role",
    ),
    cause(
        "ssh_config",
        r"(?P<file>/\S{1,200}): line (?P<line>\d+): Bad configuration option: (?P<option>\S+)|Bad configuration option: (?P<option2>\S+)|"
        r"^command-line: line 0: (?P<option3>.{1,80})",
        "ssh does not know an option of its configuration ({option} {file})",
        "take {option} out of {file}, or use a taco_image with a newer ssh",
    ),
    cause(
        # A container that was started with a user of the host.
        "user_absent",
        r"No user exists for uid (?P<uid>\d+)|unknown userid (?P<uid2>\d+)|You don't exist, go away|"
        r"The user \((?P<uid3>\d+)\) is unknown to the system|unable to obtain the username in order to create|"
        r"getpwuid\(\): uid not found: (?P<uid4>\d+)|cannot find name for user ID (?P<uid5>\d+)(?=.{0,10}ssh)",
        "the user of the run has no name in the container (uid {uid})",
        "add the user to /etc/passwd of taco_image or mount that of the host, or run the container as root",
    ),
    cause(
        "ssh_account",
        r"(?P<why>This account is (?:currently )?not available|(?:Your )?(?:password|account) has expired|You are required to change your "
        r"password|User \S+ (?:from \S+ )?not allowed because account is locked)",
        "ssh was not let in: the account on the other host can't log in ({why})",
        "give the user a login shell and a valid account there (getent passwd USER, chage -l USER, passwd -S USER), in taco_image or on "
        "the host",
        LOGIN,
    ),
    cause(
        "ssh_key",
        r"Too many authentication failures",
        "ssh was not let in: it offered more keys than the server tries",
        "set IdentitiesOnly yes and the one IdentityFile in ssh_config (role ssh_trust), or remove other keys from the agent (ssh-add -D)",
        r"(?:from|by|to) (?:authenticating user \S+ )?(?P<host>[\d.:a-f]+|[\w.-]+) port \d+",
    ),
    cause(
        "ssh_key",
        r"Authentication refused: bad ownership or modes for \w+ (?P<file>\S+)",
        "sshd ignores the keys of the user, because others may write to {file}",
        "set the owner and the mode there: chown USER {file}, chmod go-w {file} (home and .ssh 0700, authorized_keys 0600)",
    ),
    cause(
        "ssh_key",
        r"(?P<why>no mutual signature (?:algorithm|supported)|key type \S+ not in PubkeyAccepted\w+|send_pubkey_test: no mutual)",
        "ssh was not let in: the server does not accept the kind of the key ({why})",
        "make a key of the kind ed25519 (role ssh_trust), or run the same taco_image, with one version of ssh, on every host",
        LOGIN,
    ),
    cause(
        # The line of a banner that has the file and its mode.
        "ssh_key",
        r"Permissions (?P<mode>\d{3,4}) for '(?P<file>[^']{1,300})' are too open|"
        r"Load key \"?(?P<file2>[^\":]{1,300})\"?: (?P<mode2>bad permissions)",
        "ssh was not let in: it ignores the launcher's key {file}, because others may read it ({mode})",
        "set the mode of {file} on the launcher to 0600, with its user as the owner: chmod 600 {file}, or the ssh_trust role; in a pod "
        "set defaultMode 0600 for the Secret's volume, and no fsGroup, which adds rights",
        LOGIN,
        context=REFUSED,
    ),
    cause(
        "ssh_key",
        r"Bad owner or permissions on (?P<file>\S+)",
        "ssh does not read {file}: it belongs to another user, or others may write to it",
        "set its owner to the user of ssh and its mode to 0600 (chown, chmod 600 {file}), in taco_image or where it is mounted",
        LOGIN,
    ),
    cause(
        "ssh_key",
        r"Load key \"?(?P<file>[^\":]{1,300})\"?: (?P<why>invalid format|error in libcrypto|Permission denied|No such file)",
        "ssh was not let in: it can't use the launcher's key {file} ({why})",
        "write the key {file} again (role ssh_trust; in pods the Secret of the job): the private key, with its last line break, and "
        "readable for the user of ssh",
        LOGIN,
        context=REFUSED,
    ),
    cause(
        "ssh_key",
        r"(?:Warning: Identity file|no such identity:) (?P<file>\S{1,300}?):? (?:not accessible: )?No such file",
        "ssh was not let in: the launcher has no key {file}",
        "write the key to {file} (role ssh_trust; in pods the Secret of the job), or name the right file in ssh's configuration",
        LOGIN,
        context=REFUSED,
    ),
    cause(
        "ssh_key",
        r"(?:(?:[\w.-]+@)?(?P<host>[\w.-]+): )?Permission denied \((?P<why>[a-z][^)]*)\)|"
        r"sign_and_send_pubkey: signing failed.{0,60}|UNPROTECTED PRIVATE KEY FILE",
        "ssh was not let in ({why})",
        TRUST,
        r"[\w.-]+@(?P<host>[\w.-]+)'s password|ssh not successful for host (?P<host2>[\w.-]+)",
    ),
    cause(
        "ssh_key",
        r"Permission denied, please try again",
        "ssh was not let in",
        TRUST,
    ),
    cause(
        "ssh_password",
        r"^[\w.-]+@(?P<host>[\w.-]+)'s password:|Are you sure you want to continue connecting",
        "ssh asked for a password or a confirmation, which nobody can give",
        TRUST,
    ),
]

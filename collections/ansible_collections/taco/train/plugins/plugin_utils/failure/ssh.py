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
        r"(?:ssh|rsh)(?:'|\u2019)?: (?:command not found|not found$)|"
        r"(?P<program>\S*\bsshd): (?:No such file|command not found|not found)|exec: \"?ssh\"?: executable file not found|"
        r"launch agent.{0,40}could not be found|plm_(?:rsh|ssh)_agent\" was set to a path",
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
        r"unable to get host address for (?P<peer2>[\w.-]+)|"
        r"gethostbyname.{0,40}(?P<peer3>[\w.-]+) .{0,40}(?:failed|not known)",
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
        r"Could not resolve hostname (?P<host>[^\s:]+)|getaddrinfo(?:\(\))? (?:failed )?(?:for "
        r")?(?P<other>[\w.-]*).{0,40}(?:Name or service not known|Temporary failure in name resolution)|(?:unknown "
        r"host|cannot resolve):? (?P<third>[\w.-]+)",
        "the host {host}{other}{third} is not known to the launcher's ssh: its name can't be resolved",
        "set benchmark_hosts to names from the inventory, or run the ssh_trust role for it",
    ),
    cause(
        "ssh_connect",
        r"ssh: connect to host (?P<host>\S+) port (?P<port>\d+): (?P<why>[^\r\n]+)",
        "ssh to {host} on port {port} failed ({why})",
        "run the ssh_trust role, and check taco_ssh_port and taco_interface",
    ),
    cause(
        "ssh_reach",
        r"host=(?P<host>[\w.-]+) was not reachable via ssh|SSH was not successful on host (?P<host2>[\w.-]+)",
        "{host} can't be reached by ssh",
        "run the ssh_trust role, and check taco_ssh_port and taco_interface",
    ),
    cause(
        "ssh_closed",
        r"(?:kex_exchange_identification|ssh_exchange_identification|ssh_dispatch_run_fatal|banner exchange): "
        r"(?P<why>.{1,160})|^Connection (?:closed|reset) by (?:remote host |authenticating user \S+ "
        r")?(?P<host>[\d.:a-f]+) port \d+|Connection to (?P<other>\S+) closed by remote host|Connection timed out during banner "
        r"exchange|^Connection to (?P<third>\S+) port \d+ timed out",
        "the ssh server ended the connection ({why})",
        "check that sshd runs in the training container of that host (role ssh_trust) and MaxStartups there",
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
        r"Unable to negotiate with (?P<host>\S+) port \d+: (?P<why>[^\r\n.]{1,160})|Bad configuration option: (?P<option>\S+)",
        "two versions of ssh have nothing in common ({why}{option})",
        "run the same taco_image on every host, and the ssh_trust role",
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
        r"(?:(?:[\w.-]+@)?(?P<host>[\w.-]+): )?Permission denied \((?P<why>[a-z][^)]*)\)|Too many authentication "
        r"failures|(?:This account is currently|"
        r"password has expired|"
        r"sign_and_send_pubkey: signing failed)[^\r\n]{0,60}|UNPROTECTED PRIVATE KEY FILE",
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

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin: mpirun's daemons, its arguments and its interfaces, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import IMAGE, INTERFACE, NODE, cause

INTERFACE_OF_NCCL = (
    "set benchmark_interface or taco_interface, and NCCL_SOCKET_IFNAME (for Gloo GLOO_SOCKET_IFNAME) in benchmark_env, to an interface "
    "that every host has (ip -br address)"
)
# The pattern of two causes: where another line has the interface, and where none has it.
NO_INTERFACE = (
    "nccl_interface",
    r"(?:Bootstrap|NET/Socket|NET/IB|Net|NET) ?: (?:No interface found in the same subnet as remote address (?P<peer>[\d.:a-f]+)|"
    r"[Nn]o (?:usable )?(?:socket |listening |IP )*interface found)|Unable to find (?:address|interface) for|Unable to find a "
    r"set of common.{0,60}interfaces|WARN Socket creation failed|connecting to address (?P<peer2>\S*) ?with family \d+ is neither AF_INET|"
    r"No interface (?:is )?found (?:for|matching)|no device found (?:matching|after excluding) .{0,80}IFNAME",
)
LAUNCH = [
    cause(
        "mpirun_absent",
        r"(?:exec: |failed to run command ['\u2018]?)\"?(?P<program>[^\s\"'\u2019:]*mpirun)\"?|"
        r"(?P<other>mpirun|mpiexec)(?:'|\u2019)?: (?:command not found|not found$|No such file or directory)",
        "{program}{other} is not in the training image",
        "set benchmark_mpirun to the path of mpirun",
    ),
    cause(
        "mpirun_absent",
        r"(?P<program>horovodrun)(?:'|\u2019)?: (?:command not found|not found$|No such file or directory)",
        "{program} is not in the training image",
        "use a taco_image with Horovod, or set PATH in benchmark_env to the folder of its horovodrun",
    ),
    cause(
        # horovodrun reads the output of mpirun --version. That of Hydra begins with its name.
        "mpirun_unknown",
        r"Unknown MPI implementation given in output of mpirun --version",
        "horovodrun does not know the MPI in the training image ({what} {version})",
        "start the ranks with mpirun, or horovodrun with --gloo, or install Open MPI in taco_image and set benchmark_mpirun to its mpirun",
        r"^(?P<what>(?:HYDRA|Intel|mpirun)\b[^:\n]{0,60}).*(?:\n\s+Version: +(?P<version>\S+))?",
    ),
    cause(
        "mpirun_absent",
        r"Open MPI not found in output of mpirun --version|does not find an installed Open ?MPI",
        "horovodrun does not recognise the mpirun in the training image: mpirun --version does not name Open MPI",
        "start the ranks with mpirun, or horovodrun with --gloo; else compare mpirun --version on every host, and set PATH in "
        "benchmark_env to the folder of the mpirun of Open MPI",
    ),
    cause(
        "mpirun_absent",
        r"does not find an installed MPI",
        "horovodrun found no mpirun in the training image",
        "install Open MPI in taco_image, or set PATH in benchmark_env to the folder of its mpirun",
    ),
    cause(
        "daemon_absent",
        r"(?P<daemon>orted|prted|hydra_pmi_proxy|pmi_proxy)['\"\u2019]?: (?:command not found|No such file or "
        r'directory|not found)|(?:unable|not able) to find the executable "(?P<daemon2>orted|prted)"|'
        r"\[mpiexec@(?P<host2>[\w.-]+)\] \w+ .{0,80}execvp error on file \S*?(?P<daemon3>hydra_(?:pmi|bstrap)_proxy)",
        "a host has no {daemon}, the daemon of mpirun",
        "run the same taco_image on every host, and set benchmark_mpirun to mpirun's whole path",
    ),
    cause(
        "daemon_library",
        r"(?P<daemon>orted|prted): error while loading shared libraries: (?P<library>[^\s:]+)",
        "mpirun's daemon {daemon} can't load {library} on a host",
        "run the same taco_image on every host; the shell of ssh that starts the daemon is not interactive: name the library's folder in "
        "/etc/ld.so.conf.d there (ldconfig), or set LD_LIBRARY_PATH in benchmark_env and benchmark_mpirun to mpirun's whole path",
    ),
    cause(
        "mpirun_argument",
        r"Both TCP interface include and exclude lists were specified",
        "mpirun takes a list of interfaces to include ({include}) or to exclude ({exclude}), and not both",
        "leave btl_tcp_if_include or btl_tcp_if_exclude out of benchmark_mca, and OMPI_MCA_btl_tcp_if_* out of benchmark_env",
        fields={"include": ("include",), "exclude": ("exclude",)},
    ),
    cause(
        # It prints its usage for an option that it does not know.
        "mpirun_argument",
        r"^Usage: \./mpiexec \[global opts\]|\[mpiexec@[\w.-]+\] match_arg .{0,60}unrecognized argument (?P<option>\S+)",
        "mpirun is that of MPICH (Hydra), which does not take the arguments of Open MPI ({option})",
        "set benchmark_mpirun to the path of Open MPI's mpirun, or remove MPICH from taco_image",
    ),
    cause(
        # Its name is not in the message of Intel MPI and others.
        "mpirun_argument",
        r"^(?!.*\b(?:orted|prted):).*(?:unrecognized|unknown|invalid) (?:option|"
        r"argument)s?:? [\"']?(?P<option>-{1,2}(?:allow-run-as-root|mca|bind-to|map-by|hostfile|tag-output|npernode|prtemca)\b)",
        "mpirun is not that of Open MPI, or of another version: it does not take {option}",
        "set benchmark_mpirun to the path of Open MPI's mpirun (mpirun --version), and remove other ones from PATH in taco_image",
    ),
    cause(
        "mpirun_argument",
        r"(?:mpirun|mpiexec|prterun|orterun): Error: (?:unknown|unrecognized) option \"(?P<option>[^\"]+)|(?:unrecognized option "
        r"was included on the|No executable was specified on the|problem with the) (?:mpirun|prterun|mpiexec|orterun)|(?:mpirun|prterun|"
        r"mpiexec) could not find anything to do|When resolving deprecated command line options|conflicting (?:directives|policies)",
        "mpirun does not take an argument {option}",
        "set benchmark_mca, benchmark_env and benchmark_options.extra_args to what this mpirun knows (mpirun --help)",
        fields={"option": ("option", "command line option")},
    ),
    cause(
        "root",
        r"(?:mpirun|prterun|mpiexec|orterun)\S* has detected an attempt to run as root",
        "mpirun refuses to run as root",
        "add OMPI_ALLOW_RUN_AS_ROOT: 1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: 1 to benchmark_env",
    ),
    cause(
        # Open MPI's texts are in its folder share.
        "mpi_prefix",
        r"(?:help-(?:orte|opal|pmix|prte)-\S+|(?:orte|opal|prte)_init\S*)(?: \(.*\))?: (?:No such file|Not found)|help-orte-runtime",
        "mpirun does not find its own files: it isn't in the folder for which it was built",
        "set OPAL_PREFIX in benchmark_env to the folder of Open MPI, or set benchmark_mpirun to another mpirun",
    ),
    cause(
        "mpi_pmi",
        r"PMK_KVS_Barrier duplicate request|Invalid (?:MPI|--mpi) type|[Cc](?:annot|ouldn't) find (?:the specified plugin name for|"
        r"mpi plugin for) mpi/|MPI plugin \S+ not found|can ?not load PMIx library|PMIX not supported|was not built with SLURM's? PMI|"
        r"OMPI was not built with SLURM|PMI2?_Init failed to initialize",
        "srun started an MPI that was not built for it",
        "start it with mpirun, or with srun --mpi=pmix where the MPI in taco_image has PMIx",
    ),
    cause(
        "mpi_version",
        r"(?:orted|prted): Error: unknown option|connection from (?:an unidentified|a peer that did not identify itself correctly)|"
        r"mismatch in versions between two processes|received different version from|read past end of buffer in file|"
        r"Open MPI versions? (?:do not|don't) match|incompatible (?:PMIx|Open MPI) version",
        "the hosts run different versions of Open MPI",
        IMAGE,
        fields=NODE,
    ),
    cause(
        "oob_interface",
        r"None of the TCP networks specified to be included",
        "mpirun found none of the interfaces that it was told to use ({value})",
        INTERFACE,
        fields={**NODE, "value": ("value given",)},
    ),
    cause(
        "master_address",
        r"rp != nullptr\. Unable to find address for: (?P<host>(?!br-)\w{1,200}[.-][\w.-]{1,50})",
        "the host has no address for its own name, which Gloo uses",
        "add the name to /etc/hosts of the host and of the container, or set GLOO_SOCKET_IFNAME in benchmark_env to the host's interface",
    ),
    cause(
        "nccl_interface",
        r"Unable to find (?:address for|interface for)[: ]*(?P<value>\w[\w.-]*)|"
        r"[Ii]nterface (?P<named>\S+) (?:not found|does not exist|was not found)",
        "a host has no network interface {value}{named}, which NCCL or Gloo was told to use",
        INTERFACE_OF_NCCL,
    ),
    cause(
        *NO_INTERFACE,
        "a host has no network interface that NCCL or Gloo can use: {variable} is set to {value} ({peer})",
        INTERFACE_OF_NCCL,
        # NCCL's own line, or the command.
        context=r"(?P<variable>(?:NCCL|GLOO)_SOCKET_IFNAME)(?: set(?: by environment)? to |[=:] ?)[\"']?(?P<value>[\w^=][\w.,:^=-]*)",
    ),
    cause(
        *NO_INTERFACE,
        "a host or a container has no network interface that NCCL or Gloo can use ({peer})",
        f"{INTERFACE_OF_NCCL}; a container without a network takes that of the host (training_container_profile: harp or lightcc, "
        "docker run --network host)",
    ),
]

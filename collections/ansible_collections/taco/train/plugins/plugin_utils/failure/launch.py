# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin: mpirun's daemons, its arguments and its interfaces, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

INTERFACE_OF_NCCL = (
    "set benchmark_interface or taco_interface, and NCCL_SOCKET_IFNAME (for Gloo GLOO_SOCKET_IFNAME) in benchmark_env, to an interface "
    "that every host has (ip -br address)"
)
# The pattern of two causes: where another line has the interface, and where none has it.
NO_INTERFACE = (
    r"(?:Bootstrap|NET/Socket|NET/IB|Net|NET) ?: (?:No interface found in the same subnet as remote address (?P<peer>[\d.:a-f]+)|"
    r"[Nn]o (?:usable )?(?:socket |listening |IP )*interface found)|Unable to find (?:address|interface) for|"
    r"Unable to find a set of common.{0,60}interfaces|WARN Socket creation failed|"
    r"connecting to address (?P<peer2>\S*) ?with family \d+ is neither AF_INET|No interface (?:is )?found (?:for|matching)|"
    r"no device found (?:matching|after excluding) .{0,80}IFNAME"
)
LAUNCH = table(
    r"""
mpirun_absent
  pattern (?:exec: |failed to run command ['\u2018]?)"?(?P<program>[^\s"'\u2019:]*mpirun)"?
          |(?P<other>mpirun|mpiexec)(?:'|\u2019)?: (?:command not found|not found$|No such file or directory)
  found   {program}{other} is not in the training image
  fix     set benchmark_mpirun to the path of mpirun
mpirun_absent
  pattern (?P<program>horovodrun)(?:'|\u2019)?: (?:command not found|not found$|No such file or directory)
  found   {program} is not in the training image
  fix     use a taco_image with Horovod, or set PATH in benchmark_env to the folder of its horovodrun
# horovodrun reads the output of mpirun --version. That of Hydra begins with its name.
mpirun_unknown
  pattern Unknown MPI implementation given in output of mpirun --version
  found   horovodrun does not know the MPI in the training image ({what} {version})
  fix     start the ranks with mpirun, or horovodrun with --gloo, or install Open MPI in taco_image and set benchmark_mpirun to its mpirun
  near    ^(?P<what>(?:HYDRA|Intel|mpirun)\b[^:\n]{0,60}).*(?:\n\s+Version: +(?P<version>\S+))?
mpirun_absent
  pattern Open MPI not found in output of mpirun --version|does not find an installed Open ?MPI
  found   horovodrun does not recognise the mpirun in the training image: mpirun --version does not name Open MPI
  fix     start the ranks with mpirun, or horovodrun with --gloo; else compare mpirun --version on every host, and set PATH in benchmark_env
          to the folder of the mpirun of Open MPI
mpirun_absent
  pattern does not find an installed MPI
  found   horovodrun found no mpirun in the training image
  fix     install Open MPI in taco_image, or set PATH in benchmark_env to the folder of its mpirun
daemon_absent
  pattern (?P<daemon>orted|prted|hydra_pmi_proxy|pmi_proxy)['"\u2019]?: (?:command not found|No such file or directory|not found)
          |(?:unable|not able) to find the executable "(?P<daemon2>orted|prted)"
          |\[mpiexec@(?P<host2>[\w.-]+)\] \w+ .{0,80}execvp error on file \S*?(?P<daemon3>hydra_(?:pmi|bstrap)_proxy)
  found   a host has no {daemon}, the daemon of mpirun
  fix     run the same taco_image on every host, and set benchmark_mpirun to mpirun's whole path
daemon_library
  pattern (?P<daemon>orted|prted): error while loading shared libraries: (?P<library>[^\s:]+)
  found   mpirun's daemon {daemon} can't load {library} on a host
  fix     run the same taco_image on every host; the shell of ssh that starts the daemon is not interactive: name the library's folder in
          /etc/ld.so.conf.d there (ldconfig), or set LD_LIBRARY_PATH in benchmark_env and benchmark_mpirun to mpirun's whole path
mpirun_argument
  pattern Both TCP interface include and exclude lists were specified
  found   mpirun takes a list of interfaces to include ({include}) or to exclude ({exclude}), and not both
  fix     leave btl_tcp_if_include or btl_tcp_if_exclude out of benchmark_mca, and OMPI_MCA_btl_tcp_if_* out of benchmark_env
  fields  include: include; exclude: exclude
# It prints its usage for an option that it does not know.
mpirun_argument
  pattern ^Usage: \./mpiexec \[global opts\]|\[mpiexec@[\w.-]+\] match_arg .{0,60}unrecognized argument (?P<option>\S+)
  found   mpirun is that of MPICH (Hydra), which does not take the arguments of Open MPI ({option})
  fix     set benchmark_mpirun to the path of Open MPI's mpirun, or remove MPICH from taco_image
# Its name is not in the message of Intel MPI and others.
mpirun_argument
  pattern ^(?!.*\b(?:orted|prted):).*(?:unrecognized|unknown|invalid) (?:option
          |argument)s?:? ["']?(?P<option>-{1,2}(?:allow-run-as-root|mca|bind-to|map-by|hostfile|tag-output|npernode|prtemca)\b)
  found   mpirun is not that of Open MPI, or of another version: it does not take {option}
  fix     set benchmark_mpirun to the path of Open MPI's mpirun (mpirun --version), and remove other ones from PATH in taco_image
mpirun_argument
  pattern (?:mpirun|mpiexec|prterun|orterun): Error: (?:unknown|unrecognized) option "(?P<option>[^"]+)
          |(?:unrecognized option was included on the|No executable was specified on the|problem with the) (?:mpirun
          |prterun|mpiexec|orterun)|(?:mpirun|prterun|mpiexec) could not find anything to do|When resolving deprecated command line options
          |conflicting (?:directives|policies)
  found   mpirun does not take an argument {option}
  fix     set benchmark_mca, benchmark_env and benchmark_options.extra_args to what this mpirun knows (mpirun --help)
  fields  option: option, command line option
root
  pattern (?:mpirun|prterun|mpiexec|orterun)\S* has detected an attempt to run as root
  found   mpirun refuses to run as root
  fix     add OMPI_ALLOW_RUN_AS_ROOT: 1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: 1 to benchmark_env
# Open MPI's texts are in its folder share.
mpi_prefix
  pattern (?:help-(?:orte|opal|pmix|prte)-\S+|(?:orte|opal|prte)_init\S*)(?: \(.*\))?: (?:No such file|Not found)|help-orte-runtime
  found   mpirun does not find its own files: it isn't in the folder for which it was built
  fix     set OPAL_PREFIX in benchmark_env to the folder of Open MPI, or set benchmark_mpirun to another mpirun
mpi_pmi
  pattern PMK_KVS_Barrier duplicate request|Invalid (?:MPI|--mpi) type|[Cc](?:annot|ouldn't) find (?:the specified plugin name for
          |mpi plugin for) mpi/|MPI plugin \S+ not found|can ?not load PMIx library|PMIX not supported|was not built with SLURM's? PMI
          |OMPI was not built with SLURM|PMI2?_Init failed to initialize
  found   srun started an MPI that was not built for it
  fix     start it with mpirun, or with srun --mpi=pmix where the MPI in taco_image has PMIx
mpi_version
  pattern (?:orted|prted): Error: unknown option|connection from (?:an unidentified|a peer that did not identify itself correctly)
          |mismatch in versions between two processes|received different version from|read past end of buffer in file
          |Open MPI versions? (?:do not|don't) match|incompatible (?:PMIx|Open MPI) version
  found   the hosts run different versions of Open MPI
  fix     <<IMAGE>>
  fields  <<NODE>>
oob_interface
  pattern None of the TCP networks specified to be included
  found   mpirun found none of the interfaces that it was told to use ({value})
  fix     <<INTERFACE>>
  fields  <<NODE>>; value: value given
master_address
  pattern rp != nullptr\. Unable to find address for: (?P<host>(?!br-)\w{1,200}[.-][\w.-]{1,50})
  found   the host has no address for its own name, which Gloo uses
  fix     add the name to /etc/hosts of the host and of the container, or set GLOO_SOCKET_IFNAME in benchmark_env to the host's interface
nccl_interface
  pattern Unable to find (?:address for|interface for)[: ]*(?P<value>\w[\w.-]*)
          |[Ii]nterface (?P<named>\S+) (?:not found|does not exist|was not found)
  found   a host has no network interface {value}{named}, which NCCL or Gloo was told to use
  fix     <<INTERFACE_OF_NCCL>>
# NCCL's own line, or the command.
nccl_interface
  pattern <<NO_INTERFACE>>
  found   a host has no network interface that NCCL or Gloo can use: {variable} is set to {value} ({peer})
  fix     <<INTERFACE_OF_NCCL>>
  context (?P<variable>(?:NCCL|GLOO)_SOCKET_IFNAME)(?: set(?: by environment)? to |[=:] ?)["']?(?P<value>[\w^=][\w.,:^=-]*)
nccl_interface
  pattern <<NO_INTERFACE>>
  found   a host or a container has no network interface that NCCL or Gloo can use ({peer})
  fix     <<INTERFACE_OF_NCCL>>; a container without a network takes that of the host (training_container_profile: harp or lightcc, docker
          run --network host)
""",
    INTERFACE_OF_NCCL=INTERFACE_OF_NCCL,
    NO_INTERFACE=NO_INTERFACE,
)

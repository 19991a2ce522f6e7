# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin: the program or the script can't be started, or does not take its arguments, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import table

SCRIPT_FIX = "put python3 (or bash) before the script in the command, and give the script's whole path, which every host must have"
# A word that is no program: an option, a variable, or what bind-to and map-by take.
TAKEN = r"(?P<word>-\S{1,80}|[A-Z][A-Z\d]*_[A-Z\d_]+(?:=\S{0,80})?|none|slot|core|socket|node|numa|hwthread|\d+)\s*$"
PROGRAMS = table(
    r"""
# The kernel takes a script only with #! and an interpreter in its first line.
executable
  pattern (?P<script>[^\s:'"]+\.(?:py|sh))['"]?:? \(?[Ee]xec format error|[Ee]xec format error: ['"]?(?P<script2>[^\s:'"]+\.(?:py|sh))\b
  found   a host can't execute {script} (Exec format error): it is a script without its interpreter
  fix     <<SCRIPT_FIX>>
executable
  pattern ^\s*Error(?: message)?: *(?P<why>[Ee]xec format error)
  found   a host can't execute {script} ({why}): it is a script without its interpreter
  fix     <<SCRIPT_FIX>>
  fields  <<NODE>>
  context ^\s*(?:Application name|Executable|Application|Program): *(?P<script>\S+\.(?:py|sh))\s*$
executable
  pattern tried to fork a new process via the|could not execute the (?:application|executable|program)\b
  found   a host can't execute {program} ({why})
  fix     check the path on that host and in its taco_image: a file, not a folder, executable (chmod +x), for its CPU, on a file system that
          is not mounted with noexec
  fields  <<NODE>>; program: application name, executable, application, program; why: error, error message
executable
  pattern (?:^(?:/bin/)?(?:ba|da)?sh: (?:line )?(?:\d+: )?|execve\(\): )(?P<path>[^\s:]*/[^\s:]+): Permission denied
  found   a host can't execute {path}
  fix     make the file executable (chmod +x) in taco_image, or mount it so that it can be executed
executable
  pattern [Ee]xec format error
  found   a host can't execute a program (Exec format error): it is for another CPU, or a script without its first line
  fix     use a taco_image for the CPU of the hosts (uname -m), and begin a script with #! and its interpreter
# A line break of Windows is part of the name.
executable
  pattern (?P<script>[^\s:]{1,200}): (?P<interpreter>[^\s:]{1,200}?(?P<end>\^M)?): bad interpreter: (?P<why>.{1,60})
  found   a host can't execute {script}: its first line names the interpreter {interpreter} ({why})
  fix     name an interpreter that taco_image has in the first line, and write the script with line breaks of Unix (dos2unix), where ^M
          stands behind the name
# mpirun starts programs, and a script only where it is one.
executable
  pattern (?:Executable: |execvp error on file |execve\(\): )(?P<script>[^\s:]+\.(?:py|sh))\b
  found   mpirun can't execute {script}: it is a script without its interpreter, or not there
  fix     <<SCRIPT_FIX>>
  near    ^process\s+rank (?P<rank>\d+);|^rank (?P<rank2>\d+);
  fields  <<NODE>>
# mpirun takes the first word that is no option for the program: the value of an option that it does not know.
mpirun_argument
  pattern (?:NOTE: )?A common cause for this error is misspelling a (?:mpirun|prterun|mpiexec|orterun) command
          |^\s*Executable: *(?P<taken>-\S{1,80}|[A-Z][A-Z\d]*_[A-Z\d_]+(?:=\S{0,80})?|none|slot|core|socket|node|numa|hwthread|\d+)\s*$
  found   mpirun took a word of the command, {word}, for the program: it does not know the option before it, or -x is missing
  fix     correct the options before it in benchmark_mca, benchmark_env and benchmark_options.extra_args (mpirun --help); Open MPI 5 wants
          two dashes before bind-to and map-by
  fields  <<NODE>>
  context ^\s*Executable: *<<TAKEN>>
# The same with a list of hosts whose -H is missing.
mpirun_argument
  pattern (?:NOTE: )?A common cause for this error is misspelling a (?:mpirun|prterun|mpiexec|orterun) command
          |^\s*Executable: (?P<list>[\w.-]+:\d+(?:,[\w.-]+:\d+)*)\s*$
  found   mpirun took a word of the command, {list}, for the program: -H is missing before the list of hosts
  fix     write -H before the hosts (mpirun -np N -H HOST:SLOTS,... PROGRAM), and compare the other options with mpirun --help
  fields  <<NODE>>
  context ^\s*Executable: (?P<list>[\w.-]+:\d+(?:,[\w.-]+:\d+)*)\s*$
          |(?:horovodrun|mpirun|mpiexec)(?: +-{1,2}(?!H\b|hosts?\b)\S+(?: +\d\S*)?)* +(?P<list2>[\w.-]+:\d+(?:,[\w.-]+:\d+)*)(?: |$)
executable
  pattern unable to find the specified executable file|was unable to start the specified application
          |was unable to launch the specified application as it could not (?:access|find)|could not access$
          |exec: "(?P<exec>[^"]+)": (?:executable file not found|stat |permission denied)
          |executable file [`'"](?P<exec2>[^`'"]{1,200})[`'"] not found in \$PATH|execvp error on file (?P<file>\S+)
          |execve\(\): (?P<slurm>[^\s:]+): No such file
  found   a host has no {executable}{exec}{file}{slurm}
  fix     install it in taco_image or set its whole path in the command (PATH in benchmark_env), and run the same taco_image on every host
  fields  <<NODE>>; executable: executable
folder
  pattern \bcd: (?:can't cd to )?(?P<folder>/[^\s:]+)(?:: No such file|$)|couldn't chdir to [`'](?P<folder2>[^`']{1,300})
          |to the specified working directory|change to the specified working|chdir.{0,40}(?:No such file|Permission denied)
  found   a host has no working folder {folder}
  fix     check on this host that the folder is there and its file system mounted (findmnt, df), as on the others, or set
          benchmark_options.chdir to a folder that every container has
  fields  <<NODE>>; folder: working directory
interpreter
  pattern error: (?P<program>mpi(?:cc|cxx|c\+\+|CC|f90|fort|run|exec))(?: -{1,2}[\w-]{1,40}){0,3} failed, is (?P=program) in \$PATH
          |when it started the program '(?P<program2>mpi(?:cc|cxx|c\+\+|CC|f90|fort|run|exec))'
  found   a program finds no {program}
  fix     install MPI with its compilers in taco_image (libopenmpi-dev or its like), or add the folder bin of the MPI that is there to PATH
          (benchmark_env; for a build in the image its own environment); Horovod needs none with HOROVOD_WITHOUT_MPI=1
interpreter
  pattern error: (?P<program>[\w.+-]{1,80})(?: -{1,2}[\w-]{1,40}){0,3} failed, is (?P=program) in \$PATH
          |when it started the program '(?P<program2>[\w.+-]{1,80})'
  found   a program finds no {program}
  fix     install {program} in taco_image, or add its folder to PATH in benchmark_env
interpreter
  pattern (?P<program>python[\d.]*|pip[\d.]*|\S+_perf)['"\u2019]?: (?:command not found|not found$)
          |^-?(?:/\S{0,40}/)?(?:bash|sh|dash|zsh)(?:: line \d+|: \d+)?: (?P<shell>[\w./-]+): (?:command not found|not found$
          |No such file or directory$)|(?P<path>/\S{0,200}bin/[\w.-]+)['"\u2019]?: No such file or directory
          |env: ['\u2018]?(?P<env>[^'\u2019:\s]+)['\u2019]?: No such file
  found   the image has no {program}{shell}{path}{env}
  fix     set benchmark_options.script or benchmark_options.binary, or use another taco_image
script
  pattern can't open file '?(?P<script>[^']+?)'?: \[Errno (?P<errno>\d+)\]
  found   the script {script} is not there
  fix     set benchmark_options.script to its path in the training image
script
  pattern can't find '__main__' module in '(?P<script>[^']{1,300})'
  found   {script} is a folder without __main__.py, or the name of a script is empty
  fix     set benchmark_options.script to the path of a file
# torch.distributed.launch of PyTorch 2 passes it with a dash, that of PyTorch 1 with an underscore.
local_rank
  pattern unrecognized arguments:.{0,200}(?P<option>--local[-_]rank)\b
  found   PyTorch's launcher passes {option}, which the script does not know
  fix     start the script with torchrun, and read LOCAL_RANK from the environment in it
argument
  pattern (?:unrecognized arguments?|unrecognized option|invalid option|no such option|unknown option
          |Unknown command line flag)s?(?: -- |: ?| )'?(?P<argument>[^']+)'?|FATAL Flags parsing error
  found   the script does not know {argument}
  fix     set benchmark_options.extra_args or benchmark_options.script
# A launcher's own options, by argparse and click.
mpirun_argument
  pattern ^(?:usage: )?(?P<launcher>horovodrun|torchrun|deepspeed|accelerate(?: <command>| \w+)?
          |(?:launch|run)\.py)[\w \[\]<>-]{0,40}: error: (?P<what>.{1,200})
  found   {launcher} does not take its options ({what})
  fix     compare the options of the command with those of this version ({launcher} --help); the script's own options stand behind the
          script
argument
  pattern ^(?P<program>[\w./-]{1,200}): error: (?P<what>(?:argument|the following arguments|one of the arguments|ambiguous option).{1,200})
          |^Error: (?P<what2>(?:Got unexpected extra argument|No such (?:option|command)|Missing (?:option|argument|parameter)
          |Invalid value for).{0,160})
  found   the script does not accept its arguments ({what})
  fix     set benchmark_options.extra_args to what the script takes (SCRIPT --help)
""",
    SCRIPT_FIX=SCRIPT_FIX,
    TAKEN=TAKEN,
)

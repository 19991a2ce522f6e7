# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Causes before the ranks begin: the program or the script can't be started, or does not take its arguments, most specific first."""

from ansible_collections.taco.train.plugins.plugin_utils.failure.cause import NODE, cause

SCRIPT_FIX = "put python3 (or bash) before the script in the command, and give the script's whole path, which every host must have"
# A word that is no program: an option, a variable, or what bind-to and map-by take.
TAKEN = r"(?P<word>-\S{1,80}|[A-Z][A-Z\d]*_[A-Z\d_]+(?:=\S{0,80})?|none|slot|core|socket|node|numa|hwthread|\d+)\s*$"
PROGRAMS = [
    cause(
        # The kernel takes a script only with #! and an interpreter in its first line.
        "executable",
        r"(?P<script>[^\s:'\"]+\.(?:py|sh))['\"]?:? \(?[Ee]xec format error|"
        r"[Ee]xec format error: ['\"]?(?P<script2>[^\s:'\"]+\.(?:py|sh))\b",
        "a host can't execute {script} (Exec format error): it is a script without its interpreter",
        SCRIPT_FIX,
    ),
    cause(
        "executable",
        r"^\s*Error(?: message)?: *(?P<why>[Ee]xec format error)",
        "a host can't execute {script} ({why}): it is a script without its interpreter",
        SCRIPT_FIX,
        fields=NODE,
        context=r"^\s*(?:Application name|Executable|Application|Program): *(?P<script>\S+\.(?:py|sh))\s*$",
    ),
    cause(
        "executable",
        r"tried to fork a new process via the|could not execute the (?:application|executable|program)\b",
        "a host can't execute {program} ({why})",
        "check the path on that host and in its taco_image: a file, not a folder, executable (chmod +x), for its CPU, on a file system "
        "that is not mounted with noexec",
        fields={
            **NODE,
            "program": ("application name", "executable", "application", "program"),
            "why": ("error", "error message"),
        },
    ),
    cause(
        "executable",
        r"(?:^(?:/bin/)?(?:ba|da)?sh: (?:line )?(?:\d+: )?|execve\(\): )(?P<path>[^\s:]*/[^\s:]+): Permission denied",
        "a host can't execute {path}",
        "make the file executable (chmod +x) in taco_image, or mount it so that it can be executed",
    ),
    cause(
        "executable",
        r"[Ee]xec format error",
        "a host can't execute a program (Exec format error): it is for another CPU, or a script without its first line",
        "use a taco_image for the CPU of the hosts (uname -m), and begin a script with #! and its interpreter",
    ),
    cause(
        # A line break of Windows is part of the name.
        "executable",
        r"(?P<script>[^\s:]{1,200}): (?P<interpreter>[^\s:]{1,200}?(?P<end>\^M)?): bad interpreter: (?P<why>.{1,60})",
        "a host can't execute {script}: its first line names the interpreter {interpreter} ({why})",
        "name an interpreter that taco_image has in the first line, and write the script with line breaks of Unix (dos2unix), where ^M "
        "stands behind the name",
    ),
    cause(
        # mpirun starts programs, and a script only where it is one.
        "executable",
        r"(?:Executable: |execvp error on file |execve\(\): )(?P<script>[^\s:]+\.(?:py|sh))\b",
        "mpirun can't execute {script}: it is a script without its interpreter, or not there",
        SCRIPT_FIX,
        r"^process\s+rank (?P<rank>\d+);|^rank (?P<rank2>\d+);",
        fields=NODE,
    ),
    cause(
        # mpirun takes the first word that is no option for the program: the value of an option that it does not know.
        "mpirun_argument",
        r"(?:NOTE: )?A common cause for this error is misspelling a (?:mpirun|prterun|mpiexec|orterun) command|^\s*Executable: *"
        + TAKEN.replace("word", "taken"),
        "mpirun took a word of the command, {word}, for the program: it does not know the option before it, or -x is missing",
        "correct the options before it in benchmark_mca, benchmark_env and benchmark_options.extra_args (mpirun --help); "
        "Open MPI 5 wants two dashes before bind-to and map-by",
        fields=NODE,
        context=r"^\s*Executable: *" + TAKEN,
    ),
    cause(
        # The same with a list of hosts whose -H is missing.
        "mpirun_argument",
        r"(?:NOTE: )?A common cause for this error is misspelling a (?:mpirun|prterun|mpiexec|orterun) command|^\s*Executable: "
        r"(?P<list>[\w.-]+:\d+(?:,[\w.-]+:\d+)*)\s*$",
        "mpirun took a word of the command, {list}, for the program: -H is missing before the list of hosts",
        "write -H before the hosts (mpirun -np N -H HOST:SLOTS,... PROGRAM), and compare the other options with mpirun --help",
        fields=NODE,
        context=r"^\s*Executable: (?P<list>[\w.-]+:\d+(?:,[\w.-]+:\d+)*)\s*$|"
        r"(?:horovodrun|mpirun|mpiexec)(?: +-{1,2}(?!H\b|hosts?\b)\S+(?: +\d\S*)?)* +(?P<list2>[\w.-]+:\d+(?:,[\w.-]+:\d+)*)(?: |$)",
    ),
    cause(
        "executable",
        r"unable to find the specified executable file|was unable to start the specified application|"
        r"was unable to launch the specified application as it could not (?:access|find)|could not access$|exec: \"(?P<exec>[^\"]+)\": "
        r"(?:executable file not found|stat |permission denied)|executable file [`'\"](?P<exec2>[^`'\"]{1,200})[`'\"] not found in \$PATH|"
        r"execvp error on file (?P<file>\S+)|execve\(\): (?P<slurm>[^\s:]+): No such file",
        "a host has no {executable}{exec}{file}{slurm}",
        "install it in taco_image or set its whole path in the command (PATH in benchmark_env), and run the same taco_image on every host",
        fields={**NODE, "executable": ("executable",)},
    ),
    cause(
        "folder",
        r"\bcd: (?:can't cd to )?(?P<folder>/[^\s:]+)(?:: No such file|$)|couldn't chdir to [`'](?P<folder2>[^`']{1,300})|"
        r"to the specified working directory|change to the specified working|chdir.{0,40}(?:No such file|Permission denied)",
        "a host has no working folder {folder}",
        "check on this host that the folder is there and its file system mounted (findmnt, df), as on the others, or set "
        "benchmark_options.chdir to a folder that every container has",
        fields={**NODE, "folder": ("working directory",)},
    ),
    *(
        cause(
            "interpreter",
            rf"error: (?P<program>{program})(?: -{{1,2}}[\w-]{{1,40}}){{0,3}} failed, is (?P=program) in \$PATH|"
            rf"when it started the program '(?P<program2>{program})'",
            "a program finds no {program}",
            fix,
        )
        for program, fix in (
            (
                r"mpi(?:cc|cxx|c\+\+|CC|f90|fort|run|exec)",
                "install MPI with its compilers in taco_image (libopenmpi-dev or its like), or add the folder bin of the MPI that is there "
                "to PATH (benchmark_env; for a build in the image its own environment); Horovod needs none with HOROVOD_WITHOUT_MPI=1",
            ),
            (r"[\w.+-]{1,80}", "install {program} in taco_image, or add its folder to PATH in benchmark_env"),
        )
    ),
    cause(
        "interpreter",
        r"(?P<program>python[\d.]*|pip[\d.]*|\S+_perf)['\"\u2019]?: (?:command not found|not found$)|"
        r"^-?(?:/\S{0,40}/)?(?:bash|sh|dash|zsh)(?:: line \d+|: \d+)?: (?P<shell>[\w./-]+): (?:command not found|"
        r"not found$|No such file or directory$)|(?P<path>/\S{0,200}bin/[\w.-]+)['\"\u2019]?: No such file or directory|"
        r"env: ['\u2018]?(?P<env>[^'\u2019:\s]+)['\u2019]?: No such file",
        "the image has no {program}{shell}{path}{env}",
        "set benchmark_options.script or benchmark_options.binary, or use another taco_image",
    ),
    cause(
        "script",
        r"can't open file '?(?P<script>[^']+?)'?: \[Errno (?P<errno>\d+)\]",
        "the script {script} is not there",
        "set benchmark_options.script to its path in the training image",
    ),
    cause(
        "script",
        r"can't find '__main__' module in '(?P<script>[^']{1,300})'",
        "{script} is a folder without __main__.py, or the name of a script is empty",
        "set benchmark_options.script to the path of a file",
    ),
    cause(
        # torch.distributed.launch of PyTorch 2 passes it with a dash, that of PyTorch 1 with an underscore.
        "local_rank",
        r"unrecognized arguments:.{0,200}(?P<option>--local[-_]rank)\b",
        "PyTorch's launcher passes {option}, which the script does not know",
        "start the script with torchrun, and read LOCAL_RANK from the environment in it",
    ),
    cause(
        "argument",
        r"(?:unrecognized arguments?|unrecognized option|invalid option|no such option|unknown option|Unknown command "
        r"line flag)s?(?: -- |: ?| )'?(?P<argument>[^']+)'?|FATAL Flags parsing error",
        "the script does not know {argument}",
        "set benchmark_options.extra_args or benchmark_options.script",
    ),
    cause(
        # A launcher's own options, by argparse and click.
        "mpirun_argument",
        r"^(?:usage: )?(?P<launcher>horovodrun|torchrun|deepspeed|accelerate(?: <command>| \w+)?|(?:launch|run)\.py)[\w \[\]<>-]{0,40}: "
        r"error: (?P<what>.{1,200})",
        "{launcher} does not take its options ({what})",
        "compare the options of the command with those of this version ({launcher} --help); the script's own options stand behind the "
        "script",
    ),
    cause(
        "argument",
        r"^(?P<program>[\w./-]{1,200}): error: (?P<what>(?:argument|the following arguments|one of the arguments|"
        r"ambiguous option).{1,200})|^Error: (?P<what2>(?:Got unexpected extra argument|No such (?:option|command)|"
        r"Missing (?:option|argument|parameter)|Invalid value for).{0,160})",
        "the script does not accept its arguments ({what})",
        "set benchmark_options.extra_args to what the script takes (SCRIPT --help)",
    ),
]

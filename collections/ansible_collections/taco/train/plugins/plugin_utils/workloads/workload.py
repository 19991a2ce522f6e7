# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What all workloads share: the value that a builder returns, the environment of the ranks, and checks of options."""

from typing import Any, Mapping, NamedTuple, Optional, Sequence

from ansible_collections.taco.train.plugins.plugin_utils.acceleration import lightcc
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import whole_number
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.option import variable_of
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import default_env, merged_env, merged_mca

# Switches of TensorFlow, from the vendor's document (section TTF).
SWITCHES = {
    "mixed_precision": {"TF_ENABLE_AUTO_MIXED_PRECISION": "1"},
    "xla": {"TF_XLA_FLAGS": "--tf_xla_auto_jit=1"},
}

# The options of a run, by their names without benchmark_.
Options = Mapping[str, Any]


class Workload(NamedTuple):
    """What is run."""

    env: Mapping[str, Optional[str]]
    mca: Mapping[str, Any]
    """Parameters of Open MPI's components; empty when mpirun has no part in it."""
    command: list[str]
    notes: list[str]
    """Sentences that belong to the number, such as that the gradients were compressed with loss."""
    mpi: bool = True
    """Whether mpirun starts it, once for each slot; otherwise it is one process on the launcher."""
    chdir: Optional[str] = None
    cleanup: Sequence[str] = ()
    """Names of files that are removed before the run, relative to chdir or absolute."""


def switches(options: Options) -> dict[str, str]:
    """Return the variables of the TensorFlow switches that are on."""
    env = {}
    for name, variables in SWITCHES.items():
        if options.get(name):
            env.update(variables)
    return env


def without_horovod(arm: Arm) -> Arm:
    """Return an arm without the variables of Horovod and LightCC, for a workload that uses neither."""
    return arm._replace(env={name: arm.env[name] for name in arm.env if not name.startswith(("LIGHT_", "HOROVOD_"))})


def has_lightcc(arm: Arm) -> bool:
    """Return whether an arm uses LightCC. One that doesn't must not begin to by an option meant for those that do."""
    return any(name.startswith("LIGHT_") for name in arm.env)


def environment(
    options: Options, slots: Sequence[int], switched: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """Return the variables of the ranks of an MPI run.

    What comes later wins: the defaults of the platform, the arm, TensorFlow's switches, benchmark_lightcc (in arms that use
    LightCC), benchmark_env. What is exported comes last, as the vendor's documents have it.
    """
    extra = options.get("env") or {}
    chosen: dict[str, str | None] = {**default_env(options), **options["arm"].env}
    chosen.update(switched or {})
    if has_lightcc(options["arm"]):
        chosen.update(lightcc.options_to_env(options.get("lightcc")))
    problems = lightcc.validate({**chosen, **extra}, slots)
    if problems:
        raise InvalidValueError(problems[0])
    chosen.update(lightcc.group_size({**chosen, **extra}, slots))
    return merged_env(chosen, extra, options)


def without_exports(env: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the variables of a process that mpirun doesn't start: it has the launcher's own anyway."""
    return {name: value for name, value in env.items() if value is not None}


def mca_parameters(options: Options) -> dict[str, Any]:
    """Return the parameters of Open MPI's components: the defaults of the platform, and what the user adds."""
    require_words(options, "interface")
    return merged_mca(options.get("mca") or {}, options)


def notes_of(env: Mapping[str, Any], options: Options) -> list[str]:
    """Return the sentences that belong to a number measured with this environment."""
    notes = [lightcc.TOPK_NOTE] if lightcc.is_lossy(env) else []
    arm = options["arm"]
    if lightcc.options_to_env(options.get("lightcc")) and not has_lightcc(arm):
        notes.append(f"Arm {arm.name} does not use LightCC, so benchmark_lightcc was left out.")
    return notes


def extra_args(options: Options) -> list[str]:
    return [str(word) for word in options.get("extra_args") or []]


def require_words(options: Options, *names: str) -> None:
    """Raise for the first option that isn't a text fit for a command line, by the name of the role's variable."""
    for name in names:
        value = options.get(name)
        if not isinstance(value, str) or not value or value.startswith("-"):
            raise InvalidValueError(f"{variable_of(name)} is {value!r}; it must be set, and not begin with a dash.")


def require_batch_size(options: Options) -> None:
    if options.get("batch_size") is None:
        raise InvalidValueError("benchmark_options.batch_size is not set; it must be 1 or more.")
    require_at_least(options, 1, "batch_size")


def require_at_least(options: Options, least: int, *names: str) -> None:
    """Raise for the first option that isn't a whole number of the least value or more. What is absent is not looked at."""
    for name in names:
        if options.get(name) is None:
            continue
        number = whole_number(options[name])
        if number is None or number < least:
            raise InvalidValueError(f"{variable_of(name)} is {options[name]}; it must be {least} or more.")

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The arms of a comparison: for each, the environment of the ranks and its own options of a run.

The built-in arms are those of the vendor's own comparisons: its environment with everything on; the same image without
those variables; that again without the plugin, so over kernel TCP (TACO Kit documentation,
https://cloud.tencent.com/document/product/1573/74082). The fourth, LightCC over kernel TCP, is the chapter on LightCC of the
vendor's document for CVM, which needs no HARP. The fifth, upstream Horovod, is what the vendor's documents for
TKE compare with. The last two are those of ACK's document: one software, placed in two ways.
"""

import re
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, TypeVar

from ansible.module_utils.common.validation import check_type_bool, check_type_int

from ansible_collections.taco.train.plugins.plugin_utils.acceleration import lightcc
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import ENV_NAME, as_text
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError


def _layers(value: Any) -> int:
    number = -1 if isinstance(value, bool) else check_type_int(value)
    if number < 1:
        raise ValueError(value)
    return int(number)


# By their names without benchmark_: the function that returns the value with its type, or raises, and what it must be.
OPTIONS: Mapping[str, "tuple[Callable[[Any], Any], str]"] = {
    "is_dynamic": (check_type_bool, "true or false"),
    "dnn_layer_num": (_layers, "a whole number, 1 or more"),
    "mixed_precision": (check_type_bool, "true or false"),
    "xla": (check_type_bool, "true or false"),
}


def options_of(value: Any) -> Dict[str, Any]:
    """Return an arm's options with their types."""
    if not isinstance(value, Mapping):
        raise InvalidValueError(f"options is no mapping: {value!r}")
    unknown = [str(name) for name in value if name not in OPTIONS]
    if unknown:
        raise InvalidValueError(f"options has {unknown[0]!r}; an arm can set {', '.join(OPTIONS)}")
    found = {}
    for name, given in value.items():
        typed, expected = OPTIONS[name]
        try:
            found[name] = typed(given)
        except (TypeError, ValueError) as error:
            raise InvalidValueError(f"options has {name} {given!r}; it must be {expected}") from error
    return found


# It becomes part of the names of records and files, where a dash would be taken for a separator.
ARM_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
PLUGIN = ("on", "off", "keep")
HOROVOD = ("image", "upstream")
# How ACK chooses the GPUs of the workers, by the value of the node label that has it do so.
PLACE = ("default", "topology")
Default = TypeVar("Default")
# A name in NCCL's log, such as Socket or AWS Libfabric.
NETWORK = re.compile(r"[A-Za-z][\w.+/-]{0,40}(?: [\w.+/-]{1,40}){0,4}")
KEYS = ("name", "label", "base", "env", "plugin", "horovod", "place", "options", "network")
# Keys of earlier versions. Without a value they have no meaning, with one the arm is refused.
REMOVED_KEYS = ("before", "after")

HOROVOD_ENV = {"HOROVOD_MPI_THREADS_DISABLE": "1", "HOROVOD_FUSION_THRESHOLD": "0", "HOROVOD_CYCLE_TIME": "0"}
LIGHTCC_ENV = {"LIGHT_2D_ALLREDUCE": "1", "LIGHT_TOPK_ALLREDUCE": "1", "LIGHT_TOPK_THRESHOLD": "2097152"}
# NCCL's name of its own network over the kernel's TCP.
KERNEL_TCP = "Socket"


def same_arm(document: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two arms the same one, also one of an earlier version, whose arms over the kernel's TCP named no network."""
    without = (None, KERNEL_TCP) if document["plugin"] == "off" else (None,)
    return {key: value for key, value in document.items() if key != "network" or value not in without}


class Arm(NamedTuple):
    """One side of a comparison."""

    name: str
    label: str
    env: Mapping[str, str] = {}
    """Variables of the ranks; every value is a text."""
    plugin: str = "keep"
    """Whether NCCL uses its plugin libnccl-net.so, which is HARP: "on" promises it, "off" hides it from the ranks, "keep" neither."""
    horovod: str = "image"
    """The Horovod that is loaded: the image's own, or an upstream one in a prefix of its own."""
    place: Optional[str] = None
    """How the workers are placed, one of PLACE, or None for wherever they are."""
    options: Optional[Mapping[str, Any]] = None
    """Options of the run that this arm sets, of those in OPTIONS; None where it sets none."""
    network: Optional[str] = None
    """The name that NCCL's log must give the network; None for any name of what `plugin` promises."""

    @property
    def lossy(self) -> bool:
        """Whether gradients are compressed with loss."""
        return lightcc.is_lossy(self.env)

    def document(self) -> dict[str, Any]:
        """The arm as plain data, as facts, options of modules and files hold it. arm_of reads it back."""
        return dict(self._asdict(), env=dict(self.env), lossy=self.lossy)


ARMS = {
    arm.name: arm
    for arm in (
        Arm("taco", "LightCC and HARP", dict(HOROVOD_ENV, **LIGHTCC_ENV), "on"),
        Arm("harp", "Horovod and HARP", {}, "on"),
        Arm("tcp", "Horovod over kernel TCP", {}, "off", network=KERNEL_TCP),
        Arm("lightcc", "LightCC over kernel TCP", dict(HOROVOD_ENV, **LIGHTCC_ENV), "off", network=KERNEL_TCP),
        Arm("horovod", "upstream Horovod over kernel TCP", {}, "off", "upstream", network=KERNEL_TCP),
        Arm("default", "the image as it is, its GPUs scheduled as usual", place="default"),
        Arm("topology", "the image as it is, its GPUs scheduled by topology", place="topology"),
    )
}


# lossy follows from the environment, so a mapping of a user does not need it.
DOCUMENT = {*Arm._fields, "lossy"}


def _without_removed(value: Mapping[str, Any], variable: str) -> Mapping[str, Any]:
    """Return a mapping without the keys of earlier versions, which must have no value."""
    used = next((key for key in REMOVED_KEYS if value.get(key)), None)
    if used:
        raise InvalidValueError(
            f"Arm {value.get('name')} of {variable} has {used!r}, and arms have no commands any more: an arm changes only the environment "
            "of its ranks. Remove the key, and run its commands in a play of your own."
        )
    return {key: value[key] for key in value if key not in REMOVED_KEYS}


def arm_of(value: Any, variable: str = "benchmark_arm") -> Arm:
    """The arm with a built-in name, of a user's mapping, or of a document. Errors name the variable.

    A user's value is parsed once in a play, where a variable becomes a fact or a plan; what follows has the document.
    """
    if isinstance(value, Arm):
        return value
    if isinstance(value, Mapping):
        value = _without_removed(value, variable)
    if isinstance(value, Mapping) and {"network", *value} == DOCUMENT:
        # The files of an earlier version name no network.
        known = ARMS.get(str(value["name"]))
        value = {"network": known.network if known else None, **value}
        # Checked all the same: a mapping of a user can have these keys, too.
        return known if known and known.document() == value else user_arm(value, variable)
    if isinstance(value, str):
        if value in ARMS:
            return ARMS[value]
        raise InvalidValueError(
            f"There is no arm {value!r}: set {variable} to one of {', '.join(ARMS)}, or to a mapping with a name."
        )
    if not isinstance(value, Mapping):
        raise InvalidValueError(f"An arm of {variable} is a name or a mapping, and this is neither: {value!r}.")
    unknown = [str(key) for key in value if key not in KEYS]
    if unknown:
        raise InvalidValueError(f"An arm of {variable} has no key {unknown[0]!r}; it has {', '.join(KEYS)}.")
    return user_arm(value, variable)


def user_arm(value: Mapping[str, Any], variable: str) -> Arm:
    """Return the Arm of a mapping whose keys are known."""
    name = value.get("name")
    if not isinstance(name, str) or not ARM_NAME.fullmatch(name):
        raise InvalidValueError(
            f"An arm of {variable} has the name {name!r}; a name is 1 to 31 lower-case letters, digits and "
            "underscores, and begins with a letter."
        )
    if name in ARMS:
        raise InvalidValueError(f"The name {name} is that of a built-in arm: give the arm in {variable} another one.")
    base = Arm(name, name)
    if value.get("base") is not None:
        if not isinstance(value["base"], str) or value["base"] not in ARMS:
            raise InvalidValueError(
                f"Arm {name} of {variable} starts from {value['base']!r}; 'base' is one of {', '.join(ARMS)}."
            )
        base = ARMS[value["base"]]
    plugin = choice(value, "plugin", PLUGIN, base.plugin, variable)
    return Arm(
        name,
        text_of(value, "label", name, variable) or name,
        changed_env(base.env, value.get("env"), name, variable),
        plugin,
        choice(value, "horovod", HOROVOD, base.horovod, variable),
        choice(value, "place", PLACE, base.place, variable),
        set_options(value, name, variable),
        network_of(value, variable) or (base.network if plugin == base.plugin else None),
    )


def network_of(value: Mapping[str, Any], variable: str) -> str | None:
    """Return the name of the network that a mapping promises."""
    name = value.get("network")
    if name is not None and (not isinstance(name, str) or not NETWORK.fullmatch(name)):
        raise InvalidValueError(
            f"Arm {value['name']} of {variable} has the network {name!r}; it must be the name in NCCL's log, behind Using network."
        )
    return name


def set_options(value: Mapping[str, Any], name: str, variable: str) -> dict[str, Any] | None:
    """Return the options of the run that an arm sets."""
    try:
        return options_of(value.get("options") or {}) or None
    except InvalidValueError as error:
        raise InvalidValueError(f"Arm {name} of {variable}: {error}.") from error


def text_of(value: Mapping[str, Any], key: str, name: str, variable: str) -> str | None:
    text = value.get(key)
    if text is not None and not isinstance(text, str):
        raise InvalidValueError(f"Arm {name} of {variable} has the {key} {text!r}; it must be a text.")
    return text


def choice(value: Mapping[str, Any], key: str, known: Sequence[str], default: Default, variable: str) -> str | Default:
    """Return one of the known words. YAML reads a bare on or off as true or false, which is what was meant."""
    given = value.get(key)
    if given is None:
        return default
    word: str = {True: "on", False: "off"}[given] if isinstance(given, bool) else given
    if word not in known:
        raise InvalidValueError(
            f"Arm {value['name']} of {variable} has {key} {given!r}; it must be one of {', '.join(known)}."
        )
    return word


def changed_env(base: Mapping[str, str], changes: Any, name: str, variable: str) -> dict[str, str]:
    """Return the base's variables with the changes made. A null takes away what the base has."""
    if changes is not None and not isinstance(changes, Mapping):
        raise InvalidValueError(f"Arm {name} of {variable} has an env that is no mapping: {changes!r}.")
    env = dict(base)
    for key, value in (changes or {}).items():
        if not isinstance(key, str) or not ENV_NAME.fullmatch(key):
            raise InvalidValueError(f"Arm {name} of {variable}: {key!r} can't be the name of an environment variable.")
        if value is None:
            env.pop(key, None)
        elif isinstance(value, (str, int, float)):
            env[key] = as_text(value)
        else:
            raise InvalidValueError(f"Arm {name} of {variable}: {key} is {value!r}; it must be a text or a number.")
    problems = lightcc.validate(env)
    if problems:
        raise InvalidValueError(f"Arm {name} of {variable}: {problems[0]}")
    return env


def arms_of(values: Any, variable: str = "compare_arms") -> list[Arm]:
    """The arms of a comparison in order, two or more, each once."""
    if not isinstance(values, (list, tuple)) or not values:
        raise InvalidValueError(f"{variable} is a list of two or more arms, and this is not: {values!r}.")
    arms = [arm_of(value, variable) for value in values]
    names = [arm.name for arm in arms]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidValueError(f"Arm {twice[0]} stands in {variable} twice; give each once.")
    if len(arms) < 2:
        raise InvalidValueError(f"{variable} has only {names[0]}; a comparison needs two arms or more.")
    return arms

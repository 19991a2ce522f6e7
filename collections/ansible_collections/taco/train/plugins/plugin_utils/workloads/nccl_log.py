# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read in NCCL's own log lines which network it uses.

The lines are those of NCCL with NCCL_DEBUG=INFO, by version (https://github.com/NVIDIA/nccl, src/init.cc, src/net.cc and
src/plugin): each is "<host>:<pid>:<tid> [<device>] NCCL INFO <text>", and every communicator says "Using network <name>".
"""

import re
from typing import Any, Iterable, Sequence, Union

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import KERNEL_TCP, NETWORK, Arm
from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import lines_of

# The names of NCCL's own networks; any other is a plugin's.
INTERNAL = (KERNEL_TCP, "IB")
# The name that HARP's plugin has in NCCL's log is not public; these words are those of its files and of its documents.
HARP_WORDS = ("harp", "ztcp", "tfabric")
WITHOUT_PLUGIN = "no plugin"
# v2.3 and before it: INFO without NCCL, and "internal Network". v2.27 and later: also "Assigned NET plugin".
USED = re.compile(r"\bINFO (?:Using network |Using internal Network |Assigned NET plugin )(.*)$")
NAME = re.compile(rf"({NETWORK.pattern})$")
# What follows a name when another rank's line was printed into this one.
GLUED = re.compile(r"({})(?=[\w.-]+:\d+:\d+ \[|NCCL |\[\d)".format("|".join(INTERNAL)))
HEADER = re.compile(r"\S+:\d+:\d+ \[")
LOADED = re.compile(r"NET/Plugin ?: Loaded net plugin \S")
# v2.4 to v2.16, v2.17 and v2.18, v2.19 and v2.20, v2.21, v2.23 to v2.27, v2.28 and later; and a plugin that is too old or new.
NO_PLUGIN = re.compile(
    r"\bINFO NET/Plugin ?: (?:Plugin load |.{0,400}?No plugin found|.{0,400}?Using internal net(?:work)? plugin|Could not find:"
    r"|Failed to find ncclNetPlugin)"
)
# Why the file that is there was not used.
NOT_LOADED = re.compile(
    r"\bINFO (?:NET/Plugin ?: (?:Plugin load (?:\([^)]*\) )?returned \d+ : (?P<load>.{1,300}?)(?: when loading .*)?$"
    r"|dlerror=(?P<dlerror>.{1,300}?) No plugin found"
    r"|(?P<symbol>Failed to find ncclNetPlugin.{1,120}))"
    r"|(?P<init>Failed to initialize NET plugin .{1,80}))"
)


def networks(lines: Iterable[str]) -> list[str]:
    """Return the networks in the order in which they first appear. A line that another rank's output cut names none."""
    seen: dict[str, bool] = {}
    for line in lines:
        if "INFO " not in line:
            continue
        match = USED.search(line)
        if not match:
            continue
        text = match[1].strip().removesuffix(" to comm")
        glued = GLUED.match(text)
        name = glued or (
            None if HEADER.search(text) or re.search("NCCL (?:INFO|WARN|version)", text) else NAME.match(text)
        )
        if name:
            seen[name[1]] = True
    # The beginning of another name, or one that another begins, was cut out of a line.
    return [name for name in seen if not any(cut_from(name, other) for other in [*INTERNAL, *seen])]


def cut_from(name: str, other: str) -> bool:
    """Whether a name is a piece of another, or an internal network's with more text behind it."""
    if name == other or name in INTERNAL:
        return False
    return other.startswith(name) or (other == KERNEL_TCP and name.startswith(other))


def joined(names: Sequence[str]) -> str | None:
    """Return the networks as a record keeps them, None when NCCL said nothing."""
    return ", ".join(names) or None


def problems(names: Sequence[str]) -> list[str]:
    return ["The ranks used different networks: {}.".format(", ".join(names))] if len(names) > 1 else []


def plugin(text: Any) -> Union[str, bool, None]:
    """The plugin through which every rank sent: its name, False for none, None when no line tells.

    That a plugin was loaded proves nothing: NCCL falls back to its own networks when it can't be initialised.
    """
    lines = lines_of(text)
    names = networks(lines)
    if names:
        return False if any(name in INTERNAL for name in names) else ", ".join(names)
    if any(LOADED.search(line) for line in lines):
        return None
    return False if any(NO_PLUGIN.search(line) for line in lines) else None


def promise(arm: Arm) -> str | None:
    """The network that an arm promises, in words; None for an arm that promises none."""
    harp = "HARP ({} or {} in the name)".format(", ".join(HARP_WORDS[:-1]), HARP_WORDS[-1])
    return arm.network or {"on": harp, "off": WITHOUT_PLUGIN}.get(arm.plugin)


def is_harp(name: str) -> bool:
    """Whether a network in NCCL's log is HARP. SHARP is another plugin."""
    return any(re.search(f"(?<!s){word}", name.lower()) for word in HARP_WORDS)


def keeps_promise(arm: Arm, name: str) -> bool:
    """Whether a network in NCCL's log is the one that an arm promises."""
    if arm.network:
        return name == arm.network
    if arm.plugin == "on":
        return is_harp(name)
    return arm.plugin != "off" or name in INTERNAL


def unproved(arm: Arm, network: str | None, text: Any, required: bool) -> tuple[str, str] | None:
    """Return why NCCL's log does not prove the network of an arm, and what to do; None where it does.

    network is what `joined` returns. A log without a network proves nothing, which is a fault only where the proof is required.
    """
    promised = promise(arm)
    if promised is None:
        return None
    if network:
        other = next((name for name in network.split(", ") if not keeps_promise(arm, name)), None)
    else:
        without_plugin = plugin(text) is False
        other = "of its own" if without_plugin and arm.plugin == "on" else None
        required = required and not (without_plugin and promised == WITHOUT_PLUGIN)
    if other:
        return f"NCCL used network {other}, and arm {arm.name} promises {promised}", way_out(arm, other, text)
    if network or not required:
        return None
    return (
        f"NCCL's log names no network, and arm {arm.name} promises {promised}",
        "leave NCCL_DEBUG=INFO in benchmark_env as it is, or use an arm with plugin: keep and without a network",
    )


def way_out(arm: Arm, name: str, text: Any) -> str:
    """What to do about a network that an arm does not promise."""
    if name == "IB" and arm.network == KERNEL_TCP:
        return "set NCCL_IB_DISABLE: 1 in benchmark_env, or use an arm of your own with network: IB"
    if name in (*INTERNAL, "of its own"):
        why = why_not_loaded(text)
        reason = f"NCCL did not load the plugin ({why}); " if why else ""
        files = "the plugin libnccl-net.so" + (" and for ztcp*.conf" if arm.plugin == "on" else "")
        return f"{reason}look for {files} in the container, or set benchmark_arm"
    if arm.plugin == "off":
        return (
            "NCCL has found the plugin before LD_LIBRARY_PATH (RPATH of libnccl) or by the name in NCCL_NET_PLUGIN; use an image "
            "without it, or unset that variable"
        )
    return (
        "look for another libnccl-net.so that LD_LIBRARY_PATH or NCCL_NET_PLUGIN in benchmark_env finds first; if this is the name of "
        f"the plugin that you want, set network: {name} in an arm of your own"
    )


def why_not_loaded(text: Any) -> str | None:
    """Why NCCL did not use the plugin's file, as its last such line says; None where the file is absent or no line tells."""
    found = [match for match in map(NOT_LOADED.search, lines_of(text)) if match]
    reasons = [next(reason for reason in match.groups() if reason).strip(" .") for match in found]
    told = [
        reason
        for reason in reasons
        if "cannot open shared object file" not in reason or "libnccl-net" not in reason.split(":")[0]
    ]
    return told[-1] if told else None

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build the argument list of Open MPI's mpirun from a specification."""

import re
from typing import Any, Mapping

from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError

MPIRUN = "/usr/local/openmpi/bin/mpirun"
# A comma or a colon would end the name within -H, a leading dash would make it an option.
HOST_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MCA_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
KNOWN = {
    "hosts",
    "mpirun",
    "allow_run_as_root",
    "bind_to",
    "map_by",
    "env",
    "mca",
    "ssh_port",
    "extra",
    "command",
}


def whole_number(value: Any) -> int | None:
    """Return the value as an int, or None when it isn't one. A templated number may arrive as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and re.fullmatch(r"[0-9]+", value.strip()):
        return int(value)
    return int(value) if isinstance(value, int) else None


def read_hosts(hosts: Any) -> list[tuple[str, int]]:
    """Return [(name, slots)], or raise what is wrong with them."""
    if not isinstance(hosts, (list, tuple)) or not hosts:
        raise InvalidValueError("mpirun needs at least one host: 'hosts' is a list of {name, slots}.")
    found: list[tuple[str, int]] = []
    for host in hosts:
        if not isinstance(host, dict) or not {"name", "slots"} <= set(host):
            raise InvalidValueError(f"Each of 'hosts' is {{name, slots}}, and this is not: {host}.")
        name, slots = str(host["name"]), whole_number(host["slots"])
        if not HOST_NAME.fullmatch(name):
            raise InvalidValueError(f"{name!r} can't be the name of a host of mpirun.")
        if slots is None or slots < 1:
            raise InvalidValueError(
                "The host {} needs a whole number of slots, 1 or more, and has {!r}.".format(name, host["slots"])
            )
        if name in (known for known, _slots in found):
            raise InvalidValueError(f"The host {name} stands in 'hosts' twice; give it once with all its slots.")
        found.append((name, slots))
    return found


def read_env(env: Any) -> list[tuple[str, str | None]]:
    """Return [(name, value or None)] from a mapping, or from a list of NAME, NAME=VALUE and {name, value}."""
    if env is None:
        return []
    pairs = []
    if isinstance(env, dict):
        pairs = list(env.items())
    elif isinstance(env, (list, tuple)):
        for entry in env:
            if isinstance(entry, dict) and "name" in entry:
                pairs.append((entry["name"], entry.get("value")))
            else:
                name, equals, value = str(entry).partition("=")
                pairs.append((name, value if equals else None))
    else:
        raise InvalidValueError(f"'env' is a mapping or a list, and this is neither: {env!r}.")
    seen = set()
    for name, _value in pairs:
        if not ENV_NAME.fullmatch(str(name)):
            raise InvalidValueError(f"{name!r} can't be the name of an environment variable.")
        if name in seen:
            raise InvalidValueError(f"The environment variable {name} is given twice.")
        seen.add(name)
    return [(str(name), None if value is None else as_text(value)) for name, value in pairs]


def as_text(value: Any) -> str:
    """Return a value as mpirun's user means it: YAML's true is 1 to every program here, not 'True'."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value)


def as_list(spec: Mapping[str, Any], key: str) -> list[str]:
    value = spec.get(key) or []
    if not isinstance(value, (list, tuple)):
        raise InvalidValueError(f"{key!r} is a list of words, and this is not: {value!r}.")
    return [str(word) for word in value]


def mpirun_command(spec: Any) -> list[str]:
    """Return the argument list for a specification."""
    if not isinstance(spec, dict):
        raise InvalidValueError(f"mpirun's specification is a mapping, and this is not: {spec!r}.")
    unknown = sorted(str(key) for key in set(spec) - KNOWN)
    if unknown:
        raise InvalidValueError(
            "mpirun's specification has no key {}; it has {}.".format(unknown[0], ", ".join(sorted(KNOWN)))
        )
    hosts = read_hosts(spec.get("hosts"))
    command = as_list(spec, "command")
    if not command:
        raise InvalidValueError("mpirun needs a command to run: 'command' is a list of words.")
    argv = [str(spec.get("mpirun") or MPIRUN)]
    argv += ["-np", str(sum(slots for _name, slots in hosts))]
    argv += ["-H", ",".join(f"{name}:{slots}" for name, slots in hosts)]
    if spec.get("allow_run_as_root", True):
        argv.append("--allow-run-as-root")
    for option, default in (("bind_to", "none"), ("map_by", "slot")):
        value = spec.get(option, default)
        if value:
            # With one dash, as in the documents, Open MPI 5 takes the value for the program or the option for a wrong one.
            argv += ["--" + option.replace("_", "-"), str(value)]
    for name, value in read_env(spec.get("env")):
        argv += ["-x", name if value is None else f"{name}={value}"]
    for name, value in read_mca(spec.get("mca"), spec.get("ssh_port")):
        argv += ["-mca", name, value]
    return argv + as_list(spec, "extra") + command


def read_mca(mca: Any, ssh_port: Any) -> list[tuple[str, str]]:
    """Return [(name, value)] of the parameters of Open MPI's components."""
    mca = mca or {}
    if not isinstance(mca, dict):
        raise InvalidValueError(f"'mca' is a mapping, and this is not: {mca!r}.")
    pairs = []
    for name, value in mca.items():
        if not MCA_NAME.fullmatch(str(name)):
            raise InvalidValueError(f"{name!r} can't be the name of an MCA parameter.")
        if value is None or value == "":
            raise InvalidValueError(f"The MCA parameter {name} has no value.")
        pairs.append((str(name), as_text(value)))
    if ssh_port not in (None, ""):
        port = whole_number(ssh_port)
        if port is None or not 0 < port < 65536:
            raise InvalidValueError(f"'ssh_port' is a number from 1 to 65535, and this is not: {ssh_port!r}.")
        if "plm_rsh_args" in mca:
            raise InvalidValueError("Give either 'ssh_port' or the MCA parameter plm_rsh_args, not both.")
        pairs.append(("plm_rsh_args", f"-p {port}"))
    return pairs

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps and arms that the profile of the training container needs. Values in, values out."""

from typing import Any, Mapping, NamedTuple, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.container.spec import HARP_MOUNTS, PROFILES

PROFILE = "training_container_profile"
DEFAULT_PROFILE = "harp"
CVM = "cvm"
# On these platforms the training runs in pods, and the profile has no effect.
POD_ARMS = {"tke": "taco", "ack": "tcp"}
# The arm of a single run, by profile. An arm that needs HARP's plugin would abort in a container without HARP.
ARMS = {"harp": "taco", "lightcc": "lightcc", "ttf": "tcp"}
ARMS_WITH_HARP = ("tcp", "harp", "taco")
ARMS_WITHOUT_HARP = ("tcp", "lightcc")


class Needs(NamedTuple):
    """The steps and arms of a host."""

    harp: bool
    """Whether HARP is used, which needs hugepages with their reboot, ENIs and a configuration."""
    ssh_trust: bool
    """Whether the training containers reach each other by SSH."""
    local: bool
    """Whether all ranks run in the one container where mpirun starts them."""
    arm: str
    """The arm of a single run."""
    arms: Tuple[str, ...]
    """The arms of a comparison."""


def has_harp(profile: str) -> bool:
    """Return whether the container of a profile sees HARP's files."""
    return PROFILES[profile].get("mounts") == HARP_MOUNTS


def has_host_network(profile: str) -> bool:
    """Return whether the container of a profile shares the network of its host."""
    return PROFILES[profile].get("network_mode") == "host"


def needs_of(profile: Any, platform: Any = None, hosts: int = 1) -> Needs:
    """Return the needs of each of the hosts of a play. A profile that does not exist has all needs, and is refused by the roles."""
    if (platform or CVM) != CVM:
        return Needs(True, False, False, POD_ARMS.get(str(platform), ARMS[DEFAULT_PROFILE]), ARMS_WITH_HARP)
    name = profile if isinstance(profile, str) and profile in ARMS else DEFAULT_PROFILE
    local = hosts == 1 and not has_host_network(name)
    arms = ARMS_WITH_HARP if has_harp(name) else ARMS_WITHOUT_HARP
    return Needs(has_harp(name), not local, local, ARMS[name], arms)


def needs(variables: Mapping[str, Any], hosts: int = 1) -> Needs:
    """Return the needs of a host by its variables."""
    return needs_of(variables.get(PROFILE), variables.get("taco_platform"), hosts)


def without_harp(variables: Mapping[str, Any]) -> str:
    """The reason why a host does not need HARP, or an empty text."""
    return "" if needs(variables).harp else f"{PROFILE} is {variables.get(PROFILE)}, which does not use HARP"

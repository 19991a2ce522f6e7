# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide by the observation of a host whether roles would leave it as it is. The variable ROLE_desired of a role has what it desires."""

from typing import Any, Callable, Mapping

from ansible_collections.taco.train.plugins.module_utils._node.enis import OPTIONS as ENI_OPTIONS
from ansible_collections.taco.train.plugins.plugin_utils.container.convergence import is_known
from ansible_collections.taco.train.plugins.plugin_utils.container.options import OPTIONS as CONTAINER_OPTIONS
from ansible_collections.taco.train.plugins.plugin_utils.container.options import OVERRIDES
from ansible_collections.taco.train.plugins.plugin_utils.convergence import harp, hugepages
from ansible_collections.taco.train.plugins.plugin_utils.convergence.answer import Known
from ansible_collections.taco.train.plugins.plugin_utils.convergence.enis import judged

Options = Mapping[str, Any]

ENIS = Known(
    ENI_OPTIONS,
    frozenset(["expected", "pattern", "subnet"]),
    lambda options, node: None if judged({**options, "nics": node["nics"]})[1] else {},
)
CONTAINER = Known(
    CONTAINER_OPTIONS,
    frozenset(
        [
            *OVERRIDES,
            *("state", "profile", "pull", "mounts_extra", "harp_config_dir", "harp_config_files", "require_harp"),
            *("state_dir", "interrupt_running_work", "may_stay", "take_over"),
        ]
    ),
    lambda options, node: {} if is_known(options, node) else None,
)


def _by(known: Known) -> Callable[[Options, Options], bool]:
    return lambda desired, node: known.answer(desired, node) is not None


# Of each role whether a host is as desired. For the role ssh_trust, agreed_peers has to agree, too.
ROLES: dict[str, Callable[[Options, Options], bool]] = {
    "container_engine": lambda desired, _node: not any(desired.values()),
    "eni": _by(ENIS),
    "harp": _by(harp.KNOWN),
    "hugepages": _by(hugepages.KNOWN),
    "ssh_trust": lambda desired, node: desired["state"] == "present" and _is_proven(desired, node),
    "training_container": _by(CONTAINER),
}


def _is_proven(desired: Options, node: Options) -> bool:
    return not desired["prove"] or bool((node.get("ssh_trust") or {}).get("proven"))


def is_converged(role: str, desired: Options | None, node: Options) -> bool:
    """Whether a role would change nothing and fail at nothing. desired is None where a variable can't be computed."""
    if desired is None or node.get("observed_at") is None:
        return False
    return not desired or ROLES[role](desired, node)


def from_first_changed(roles: Mapping[str, bool]) -> list[str]:
    """The first role that is not converged, and all after it: a change of one may be a reason for a change of the next."""
    names = list(roles)
    return names[min((place for place, name in enumerate(names) if not roles[name]), default=len(names)) :]

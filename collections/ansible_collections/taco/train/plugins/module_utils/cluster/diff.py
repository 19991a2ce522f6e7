# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say in what the MPIJob of a cluster differs from a manifest. Values in, values out.

The API server and operators fill in what a manifest leaves out, so only what mpijob_manifest writes is compared, also where
it writes nothing now. Pods are made once: their templates, their number and the slots of the hostfile stay what they were,
whatever the object says afterwards.
"""

from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.module_utils.cluster.owner import MANAGER, described, is_ours
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import (
    TOPOLOGY_LABEL,
    TOPOLOGY_REPLICA_LABEL,
    MpijobError,
    amount,
)
from ansible_collections.taco.train.plugins.module_utils.cluster.status import ENDED, job_phase

# What of the spec the operators read again and again.
LOOSE = ("runPolicy", "cleanPodPolicy")
# What mpijob_manifest may write, by where it writes it. `*` is any one step, and None everything below.
_OWN: Dict[str, Any] = {
    "slotsPerWorker": None,
    "cleanPodPolicy": None,
    "runPolicy": {"cleanPodPolicy": None},
    "mpiReplicaSpecs": {
        "*": {
            "replicas": None,
            "template": {
                "metadata": {"labels": {TOPOLOGY_LABEL: None, TOPOLOGY_REPLICA_LABEL: None}},
                "spec": {
                    "containers": {
                        "image": None,
                        "name": None,
                        "command": None,
                        "env": {"name": None, "value": None},
                        "resources": {"limits": None, "requests": None},
                        "securityContext": {"privileged": None},
                        "volumeMounts": {"mountPath": None, "name": None, "readOnly": None},
                    },
                    "volumes": {
                        "name": None,
                        "hostPath": {"path": None},
                        "emptyDir": {"medium": None, "sizeLimit": None},
                    },
                    "hostNetwork": None,
                    "dnsPolicy": None,
                },
            },
        }
    },
}
QUANTITIES = ("limits", "requests", "sizeLimit")
NOTHING: Any = object()


class Difference(NamedTuple):
    """One value that is another in the cluster than in the manifest."""

    path: str
    found: Any
    wanted: Any
    loose: bool
    """Whether it can be changed while the job runs."""

    def __str__(self) -> str:
        return f"{self.path} is {_words(self.found)} and should be {_words(self.wanted)}"


def _words(value: Any) -> str:
    return "not set" if value is NOTHING else repr(value)


def _is_nothing(value: Any) -> bool:
    """Return whether a value says no more than one that is left out."""
    return value is NOTHING or value in (None, False, "", [], {})


def _same_amount(found: Any, wanted: Any) -> bool:
    try:
        return amount(found, "") == amount(wanted, "")
    except MpijobError:
        return bool(found == wanted)


def _steps(found: Any, wanted: Any, own: Mapping[str, Any]) -> List[str]:
    """Return the keys to look at: those of the manifest, and of the object those that a manifest could have."""
    known = [key for key in found if key in own or "*" in own]
    return list(dict.fromkeys([*wanted, *known]))


def _differences(found: Any, wanted: Any, own: Any, path: str, in_quantities: bool) -> Iterator[Tuple[str, Any, Any]]:
    if _is_nothing(found) and _is_nothing(wanted):
        return
    if isinstance(own, Mapping):
        # What isn't there holds nothing, so what the cluster alone keeps in the other is no difference.
        found, wanted = _like(found, wanted), _like(wanted, found)
    if isinstance(own, Mapping) and isinstance(found, list) and isinstance(wanted, list):
        if len(found) != len(wanted):
            yield path, [_label(item) for item in found], [_label(item) for item in wanted]
            return
        for index, (one, other) in enumerate(zip(found, wanted)):
            yield from _differences(one, other, own, f"{path}[{index}]", in_quantities)
    elif isinstance(found, Mapping) and isinstance(wanted, Mapping):
        below = own if isinstance(own, Mapping) else {"*": None}
        for key in _steps(found, wanted, below):
            yield from _differences(
                found.get(key, NOTHING),
                wanted.get(key, NOTHING),
                below.get(key, below.get("*")),
                f"{path}.{key}" if path else key,
                in_quantities or key in QUANTITIES,
            )
    elif found != wanted and not (in_quantities and _same_amount(found, wanted)):
        yield path, found, wanted


def _like(value: Any, other: Any) -> Any:
    """Return a value, or an empty one of the other's type for one that isn't there."""
    return type(other)() if _is_nothing(value) and isinstance(other, (dict, list)) else value


def _label(item: Any) -> Any:
    """Return by what people know an item of a list."""
    return item.get("name", item.get("mountPath", item)) if isinstance(item, Mapping) else item


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> List[Difference]:
    """Return in what an MPIJob of the cluster is not what a manifest says, in the order of the manifest."""
    seen = _differences(found.get("spec") or {}, wanted.get("spec") or {}, _OWN, "", False)
    return [Difference(path, one, other, path.split(".")[0] in LOOSE) for path, one, other in seen]


class Step(NamedTuple):
    """What there is to do about a job."""

    create: bool
    """Also after the one that is there was deleted."""
    reasons: List[str]
    """Why the one that is there has to be deleted first."""
    loose: List[Difference]
    """What can be changed while it runs."""

    @property
    def replace(self) -> bool:
        return bool(self.reasons)

    def words(self) -> List[Tuple[str, str]]:
        """Return (what is done, why) for each change."""
        said = [("deleted", f", since {'; '.join(self.reasons)}")] if self.reasons else []
        if self.create:
            return [*said, ("created", "")]
        return [("changed", f": {'; '.join(map(str, self.loose))}")] if self.loose else []


def step(found: Optional[Mapping[str, Any]], wanted: Mapping[str, Any]) -> Step:
    """Return what has to be done so that the cluster has the job of a manifest; found is None when it has none."""
    if found is None:
        return Step(True, [], [])
    different = differences(found, wanted)
    phase = job_phase(found)
    reasons = [] if is_ours(found) else [f"it is not managed by {MANAGER} ({described(found)})"]
    reasons += [f"it has ended ({phase.name}{phase.message and ': ' + phase.message})"] if phase.name in ENDED else []
    reasons += [str(difference) for difference in different if not difference.loose]
    return Step(bool(reasons), reasons, [] if reasons else different)


def patch(wanted: Mapping[str, Any], changed: List[Difference]) -> Dict[str, Any]:
    """Return what of a manifest has to be sent so that the loose differences are gone."""
    keys = {difference.path.split(".")[0] for difference in changed}
    spec = {key: wanted["spec"][key] for key in LOOSE if key in keys and key in wanted["spec"]}
    return {**{key: wanted[key] for key in ("apiVersion", "kind", "metadata")}, "spec": spec}

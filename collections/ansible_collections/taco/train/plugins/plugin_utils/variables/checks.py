# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of variables, which need no host: what is misspelt, and what a later step would miss."""

import difflib
import fnmatch
from functools import lru_cache
from typing import Any, Collection, Dict, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.check import Check, is_set, skipped, truth, whole
from ansible_collections.taco.train.plugins.plugin_utils.container.profile import without_harp
from ansible_collections.taco.train.plugins.plugin_utils.container.spec import PROFILES
from ansible_collections.taco.train.plugins.plugin_utils.text import some
from ansible_collections.taco.train.plugins.plugin_utils.values import IMAGE, is_checksum
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import FACTS

KNOWN = "variables.known"
DECLARED = "gpu.declared"
MOST_CHARACTERS = 300


class Unknown(NamedTuple):
    """A variable that has the prefix of a role but isn't one of its variables."""

    name: str
    closest: Optional[str]
    is_wrong: bool
    """Whether it differs so little from a variable of a role that it is certainly a misspelling of it."""


def differing_letters(one: str, other: str) -> int:
    """How many letters of two names are not common to both, in their order. A replaced letter and two that are swapped count twice."""
    common = sum(block.size for block in difflib.SequenceMatcher(None, one, other).get_matching_blocks())
    return len(one) + len(other) - 2 * common


@lru_cache(maxsize=None)
def _nearly(name: str, known: FrozenSet[str]) -> Optional[str]:
    """Return the variable that a name resembles in all but a letter or two. Hosts have mostly the same names."""
    if name.startswith(("_", "ansible_")):
        return None
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.93)), None)


def unknown_variables(
    names: Collection[str], prefixes: Iterable[str], declared: Iterable[str], permitted: Iterable[Any] = ()
) -> List[Unknown]:
    """The variables among the names that carry a role's prefix and that no role has, each with the closest.

    permitted are names, or patterns as of files, of variables that belong to somebody else.
    """
    known = frozenset([*declared, *FACTS])
    patterns = [str(pattern) for pattern in permitted]
    strange = [name for name in names if name not in known and not _matches(name, patterns)]
    prefixes = tuple(prefixes)
    found = {}
    for name in strange:
        # A prefix that no role has, such as hugepage_.
        meant = None if name.startswith(prefixes) else _nearly(name, known)
        if meant:
            found[name] = Unknown(name, meant, False)
        for prefix in filter(name.startswith, prefixes):
            unknown = _of_role(name, prefix, known)
            if name not in found or unknown.is_wrong:
                found[name] = unknown
    return sorted(found.values())


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


@lru_cache(maxsize=None)
def _of_role(name: str, prefix: str, known: FrozenSet[str]) -> Unknown:
    # The prefix is left out of the comparison: it alone would make all names of a role resemble each other.
    rest = name[len(prefix) :]
    rests = sorted(other[len(prefix) :] for other in known if other.startswith(prefix))
    words = set(rest.split("_"))
    closest = difflib.get_close_matches(rest, rests, n=1, cutoff=0.7)
    # A part of the name is missing, such as in taco_gpus.
    closest = closest or [other for other in rests if words < set(other.split("_"))][:1]
    is_wrong = bool(closest) and differing_letters(rest, closest[0]) <= (2 if len(rest) < 5 else 3)
    return Unknown(name, prefix + closest[0] if closest else None, is_wrong)


def known(unknown: List[Unknown], errors: Mapping[str, str]) -> Check:
    """Check that no variable is misspelt, and that each can be computed."""
    wrong = [one for one in unknown if one.is_wrong]
    named = wrong or unknown
    found = [one.name + (f" (did you mean {one.closest}?)" if one.closest else "") for one in named]
    fixes = (
        ["correct the name, or list it in preflight_known_variables if it is not meant for this collection"]
        if named
        else []
    )
    for name, reason in sorted(errors.items()):
        found.append(f"{name} can't be computed: {' '.join(reason.split())[:MOST_CHARACTERS]}")
    fixes += [f"correct {some(sorted(errors))}"] if errors else []
    if not found:
        return Check(KNOWN, "pass")
    status = "fail" if wrong or errors else "warn"
    return Check(KNOWN, status, "variables that a role has", some(found, separator="; "), "; ".join(fixes))


def harp_checksum(variables: Dict[str, Any]) -> Check:
    """Check that the vendor's script, which root runs, is known by its checksum."""
    identity, checksum = "harp.checksum", variables.get("harp_script_sha256")
    if without_harp(variables):
        return skipped(identity, without_harp(variables))
    if variables.get("harp_source") not in (None, "script"):
        return skipped(identity, f"harp_source is {variables['harp_source']}")
    fix = "set harp_script_sha256 to the output of sha256sum for the script"
    if is_set(checksum):
        if is_checksum(str(checksum).strip()):
            return Check(identity, "pass", found=str(checksum))
        expected = "the checksum of the script: 64 hexadecimal digits, no placeholder"
        return Check(identity, "fail", expected, f"harp_script_sha256: {checksum}", fix)
    if truth(variables.get("harp_allow_unverified")):
        return Check(identity, "warn", "a checksum", "harp_allow_unverified: true", fix)
    found = f"harp_script_sha256 is not set for {variables.get('harp_script') or 'harp_script'}"
    return Check(identity, "fail", "a checksum", found, fix + ", or say harp_allow_unverified: true")


def image_of(variables: Mapping[str, Any]) -> Tuple[str, Any]:
    """The image that the training runs in on the host's platform, with the variable that names it."""
    if variables.get("taco_platform") in ("tke", "ack"):
        image = variables.get("mpijob_image")
        return "mpijob_image", image if is_set(image) else PROFILES["mpijob"]["image"]
    name = "training_container_image" if is_set(variables.get("training_container_image")) else "taco_image"
    return name, variables.get(name)


def image_set(variables: Dict[str, Any]) -> Check:
    """Check that the image that will run can be the name of one."""
    name, image = image_of(variables)
    if not is_set(image):
        return Check("image.set", "fail", "the name of a training image", f"{name} is not set", f"set {name}")
    if not IMAGE.match(str(image)):
        return Check("image.set", "fail", "registry/name:tag or name@sha256:...", f"{name}: {image}", f"correct {name}")
    if ":" not in str(image).rsplit("/", 1)[-1]:
        fix = f"add a tag or a digest to {name}, so that every host runs the same"
        return Check("image.set", "warn", "an image with a tag or a digest", str(image), fix)
    return Check("image.set", "pass", found=str(image))


def declared_gpus(variables: Dict[str, Any]) -> Optional[int]:
    gpus = whole(variables.get("taco_gpus_per_node"))
    return gpus if gpus and gpus > 0 else None


def declared(variables: Dict[str, Any]) -> Check:
    """Check that the inventory says how many GPUs take part: pages, ENIs and ranks follow from it."""
    value = variables.get("taco_gpus_per_node")
    if declared_gpus(variables):
        return Check(DECLARED, "pass", found=str(value))
    found = repr(str(value)) if isinstance(value, str) else str(value)
    found = f"taco_gpus_per_node: {found}" if is_set(value) else "taco_gpus_per_node is not set"
    fix = "set taco_gpus_per_node to the number of GPUs that take part, such as 8"
    return Check(DECLARED, "fail", "a GPU count of 1 or more", found, fix)

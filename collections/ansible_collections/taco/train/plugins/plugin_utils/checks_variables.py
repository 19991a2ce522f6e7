# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to taco.train: may change at any time. Do not import it from another collection.

"""Checks of variables, which need no host: what is misspelt, and what a later step would miss."""

import difflib
import re
from typing import Any, Collection, Dict, Iterable, List, Mapping, Optional

from ansible_collections.taco.train.plugins.plugin_utils.check import Check, is_set, skipped, truth

# Facts that the collection sets itself.
FACTS = ("taco_node", "taco_run_dir", "taco_reboot", "taco_placed")
# This prefix is the collection's alone. Others, such as report_, may be used by roles that aren't ours.
OWN_PREFIX = "taco_"
SHA256 = re.compile(r"^[0-9a-fA-F]{64}$")
# A registry with an optional port, a path in lower case, a tag and a digest.
IMAGE = re.compile(
    r"^(?:[A-Za-z0-9.-]+(?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$"
)


class Unknown:
    """A variable that has the prefix of a role but isn't one of its variables."""

    def __init__(self, name: str, closest: Optional[str]):
        self.name = name
        self.closest = closest

    @property
    def is_wrong(self) -> bool:
        """Whether it is certainly meant for the collection, and not for something that happens to share the prefix."""
        return self.closest is not None or self.name.startswith(OWN_PREFIX)


def unknown_variables(names: Collection[str], prefixes: Iterable[str], declared: Iterable[str]) -> List[Unknown]:
    """Return the variables among the names that carry a role's prefix and aren't declared by any, each with the closest."""
    known = set(declared) | set(FACTS)
    found = []
    for prefix in prefixes:
        # The prefix is left out of the comparison: it alone would make all names of a role resemble each other.
        rests = sorted(name[len(prefix) :] for name in known if name.startswith(prefix))
        for name in names:
            if name not in known and name.startswith(prefix):
                closest = difflib.get_close_matches(name[len(prefix) :], rests, n=1, cutoff=0.7)
                found.append(Unknown(name, prefix + closest[0] if closest else None))
    return sorted(found, key=lambda unknown: unknown.name)


def known(unknown: List[Unknown], errors: Mapping[str, str]) -> Check:
    """Check that no variable is misspelt, and that each can be computed."""
    wrong = [one for one in unknown if one.is_wrong]
    names = [one.name for one in wrong or unknown]
    fixes = [f"write {one.closest} for {one.name}" for one in wrong if one.closest]
    fixes += [f"remove {one.name}: no role has it" for one in wrong if not one.closest]
    found = [", ".join(names)] if names else []
    if errors:
        found += [f"{name} can't be computed: {' '.join(reason.split())}" for name, reason in sorted(errors.items())]
        fixes += [f"correct {name}" for name in sorted(errors)]
    if wrong or errors:
        return Check("variables.known", "fail", "variables that a role has", "; ".join(found), "; ".join(fixes))
    if unknown:
        fix = "nothing, if they are not meant for this collection; else see the roles' READMEs"
        return Check("variables.known", "warn", "variables that a role has", found[0], fix)
    return Check("variables.known", "pass")


def harp_checksum(variables: Dict[str, Any]) -> Check:
    """Check that the vendor's script, which root runs, is known by its checksum."""
    if variables.get("harp_source") not in (None, "script"):
        return skipped("harp.checksum", f"harp_source is {variables['harp_source']}")
    checksum = variables.get("harp_script_sha256")
    set_it = "set harp_script_sha256 to the output of sha256sum for the script"
    fix = set_it + ", or say harp_allow_unverified: true"
    if is_set(checksum):
        if SHA256.match(str(checksum).strip()):
            return Check("harp.checksum", "pass", found=str(checksum))
        return Check("harp.checksum", "fail", "64 hexadecimal digits", f"harp_script_sha256: {checksum}", fix)
    if truth(variables.get("harp_allow_unverified")):
        return Check("harp.checksum", "warn", "a checksum", "harp_allow_unverified: true", set_it)
    script = variables.get("harp_script") or "harp_script"
    return Check("harp.checksum", "fail", "a checksum", f"harp_script_sha256 is not set for {script}", fix)


def image_set(variables: Dict[str, Any]) -> Check:
    """Check that the training image can be the name of one."""
    name = "training_container_image" if is_set(variables.get("training_container_image")) else "taco_image"
    image = variables.get(name)
    if not is_set(image):
        return Check("image.set", "fail", "the name of a training image", "taco_image is not set", "set taco_image")
    if not IMAGE.match(str(image)):
        return Check("image.set", "fail", "registry/name:tag or name@sha256:...", f"{name}: {image}", f"correct {name}")
    if ":" not in str(image).rsplit("/", 1)[-1]:
        fix = f"add a tag or a digest to {name}, so that every host runs the same"
        return Check("image.set", "warn", "an image with a tag or a digest", str(image), fix)
    return Check("image.set", "pass", found=str(image))

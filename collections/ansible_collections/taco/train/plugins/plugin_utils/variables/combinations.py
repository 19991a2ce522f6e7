# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values of variables that only together make sense; run_combinations adds those of runs."""

import re
from typing import Any, Callable, Mapping, NamedTuple, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.check import is_set, truth, whole
from ansible_collections.taco.train.plugins.plugin_utils.container import profile
from ansible_collections.taco.train.plugins.plugin_utils.container.options import OPTIONS as CONTAINER_OPTIONS
from ansible_collections.taco.train.plugins.plugin_utils.container.options import spec_of
from ansible_collections.taco.train.plugins.plugin_utils.container.profile import DEFAULT_PROFILE, PROFILE
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import KEYS as JOB_KEYS
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import on_cluster

Values = Mapping[str, Any]
# The names of the hosts of the play, with the GPUs of each.
Fleet = Tuple[Tuple[str, Any], ...]


class Group(NamedTuple):
    """Variables that are checked together."""

    prefixes: Tuple[str, ...]
    """The variables are those that begin so; they are first checked one by one."""
    check: Callable[[Values, Fleet], None]
    """Raises what is wrong."""


def ssh_trust(values: Values, fleet: Fleet) -> None:
    """Check that the containers of several hosts can reach each other."""
    chosen = str(values.get(PROFILE) or DEFAULT_PROFILE)
    if on_cluster(values) or len(fleet) < 2 or profile.has_host_network(chosen):
        return
    raise InvalidValueError(
        f"{PROFILE} is {chosen}, which gives the container a network of its own, and the play has {len(fleet)} hosts, whose "
        f"containers could not reach each other: use one host (--limit), or set {PROFILE} to lightcc or {DEFAULT_PROFILE}."
    )


def training_container(values: Values, _fleet: Fleet) -> None:
    """Check the container of the role training_container."""
    if on_cluster(values):
        return
    spec = CONTAINER_OPTIONS["argument_spec"]
    options = {name: values.get("training_container_" + name, option.get("default")) for name, option in spec.items()}
    options.update(
        name=values.get("taco_container_name"),
        image=values.get("training_container_image") or values.get("taco_image"),
        mounts_extra=values.get("training_container_mounts_extra") or [],
    )
    if truth(values.get("training_container_require_harp")) and profile.without_harp(values):
        raise InvalidValueError(
            f"training_container_require_harp is true, but {profile.without_harp(values)}: leave it out, or set {PROFILE} to "
            f"{DEFAULT_PROFILE}."
        )
    spec_of(options)


def mpijob(values: Values, fleet: Fleet) -> None:
    """Check the job of the role mpijob."""
    given = {name: values.get("mpijob_" + name) for name in JOB_KEYS}
    gpus = given["gpus_per_worker"] if is_set(given["gpus_per_worker"]) else values.get("taco_gpus_per_node")
    workers = given["workers"] if is_set(given["workers"]) else len(fleet)
    if on_cluster(values) and whole(gpus):
        job_of(dict(given, gpus_per_worker=gpus, workers=workers, namespace=values.get("taco_kube_namespace")))


def harp(values: Values, _fleet: Fleet) -> None:
    """Check that the source of HARP's configuration is named."""
    source = values.get("harp_source")
    if profile.without_harp(values):
        return
    if values.get("harp_state") == "present" and source in ("script", "template") and not values.get("harp_" + source):
        raise InvalidValueError(f"harp_source is {source} and harp_{source} is not set: set harp_{source} to its path.")


def hugepages(values: Values, _fleet: Fleet) -> None:
    """Check that pages are not to be reserved in two ways."""
    if truth(values.get("hugepages_trial")) and truth(values.get("hugepages_runtime")):
        raise InvalidValueError(
            "hugepages_trial and hugepages_runtime are both true, and exclude each other: unset one of them."
        )


GROUPS = (
    Group(("ssh_trust_", PROFILE, "taco_"), ssh_trust),
    Group(("training_container_", "taco_"), training_container),
    Group(("mpijob_", "taco_"), mpijob),
    Group(("harp_",), harp),
    Group(("hugepages_",), hugepages),
)


def for_people(group: Group, message: str, declared: Sequence[str]) -> str:
    """A message about options of a module, with the names of the role's variables in their place."""
    prefix = group.prefixes[0]
    options = [name[len(prefix) :] for name in declared if name.startswith(prefix)]
    # In a sentence a word such as name is no option, unless it is the subject.
    spoken = "|".join(sorted((name for name in options), key=len, reverse=True))
    with_underscore = "|".join(name for name in options if "_" in name)
    message = re.sub(rf"(?<![\w{{'])({spoken}) (?=is\b|are\b)", rf"{prefix}\1 ", message)
    return re.sub(rf"(?<![\w{{'])({with_underscore})\b", rf"{prefix}\1", message) if with_underscore else message


def problem(group: Group, values: Values, fleet: Fleet, declared: Sequence[str]) -> str:
    """What is wrong with the values of a group, or an empty text."""
    try:
        group.check(values, fleet)
    except InvalidValueError as error:
        return for_people(group, str(error), declared)
    return ""

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What alters a change or the identity of a host is refused and named, and nothing else is refused."""

import copy
import random

from planned import CHANGES, IDENTITY, node, results

from ansible_collections.taco.train.plugins.plugin_utils.plan import wording
from ansible_collections.taco.train.plugins.plugin_utils.plan.change import identity_of
from ansible_collections.taco.train.plugins.plugin_utils.plan.collect import (
    changes_of,
    differences,
    identity_differences,
)

# What a change and an identity do not contain.
IRRELEVANT_FACTS = (
    "memory",
    "disk",
    "kernel",
    "os",
    "hugepages",
    "python",
    "observed_at",
    "container_engine",
    "gpus",
    "hostname",
)
IRRELEVANT_KEYS = ("invocation", "warnings", "files", "docker_run", "count", "failed", "start", "end", "deprecations")


def refused(observed, decided):
    """What differs from the plan of the host, and the message that refuses it, empty without a difference."""
    found = identity_differences(IDENTITY, identity_of(observed)) + differences(CHANGES, changes_of(decided))
    return found, wording.refusal("gpu1", "plan.json", found) if found else ""


def modules(decided):
    """(role, result) of each module that reports a change."""
    lists = ((role, found if isinstance(found, list) else [found]) for role, found in decided.items())
    return [(role, result) for role, found in lists for result in found if result.get("changed")]


def entries(result):
    diff = result.get("diff") or []
    return diff if isinstance(diff, list) else [diff]


def another_identity(source, observed, _decided):
    name = source.choice(["machine_id", "board_serial", "mac_addresses"])
    if name == "mac_addresses":
        source.choice(observed["nics"])["mac"] = f"52:54:00:ff:00:{source.randrange(256):02x}"
    else:
        observed["identity"][name] = source.choice([None, str(source.random())])
    return name


def another_content(source, _observed, decided):
    side = source.choice(["before", "after"])
    entry = source.choice([one for _role, result in modules(decided) for one in entries(result)])
    value, new = entry[side], f"line {source.random()}\n"
    edited = [{}, {**value, "env": {"TOKEN": new}}] if isinstance(value, dict) else ["", value + new, new]
    entry[side] = source.choice([one for one in edited if one != value])
    return entry["before_header"]


def another_name(source, _observed, decided):
    entry = source.choice([one for _role, result in modules(decided) for one in entries(result)])
    entry["before_header"] = entry["after_header"] = f"/etc/{source.random()}"
    return entry["before_header"]


def another_report(source, _observed, decided):
    role, result = source.choice(modules(decided))
    name, new = source.choice([("reason", str(source.random())), ("interrupts", [str(source.random())])])
    result[name] = new
    return f"{'interruptions' if name == 'interrupts' else name} of the role {role}"


def no_change(source, _observed, decided):
    role, _result = source.choice(modules(decided))
    decided[role] = source.choice([{}, {"changed": False}, []])
    return f"change of the role {role}"


def one_more_change(source, _observed, decided):
    decided[f"role{source.randrange(9)}"] = {"changed": True, "reason": "another"}
    return "change of the role role"


def content_not_known(source, _observed, decided):
    role = source.choice(["harp", "training_container", "ssh_trust"])
    decided[role] = {"changed": True, "reason": "no content"}
    return "new content of "


def another_removal(source, _observed, decided):
    decided["benchmark"][1]["removed"] = source.choice(
        [[], ["/var/lib/taco-train/logs", "/var/lib/taco-train/horovod"]]
    )
    return {0: "logs", 2: "horovod"}[len(decided["benchmark"][1]["removed"])]


RELEVANT = (
    another_identity,
    another_content,
    another_name,
    another_report,
    no_change,
    one_more_change,
    content_not_known,
    another_removal,
)


def test_500_of_500_mutations_of_a_change_or_an_identity_are_refused_and_named():
    source = random.Random(7)
    for number in range(500):
        mutate, observed, decided = RELEVANT[number % len(RELEVANT)], node(), results()
        name = mutate(source, observed, decided)
        found, message = refused(observed, decided)
        assert found and f"{name}" in message and ": in the plan " in message, (number, mutate.__name__, name, message)


def test_0_of_500_other_mutations_are_refused():
    source = random.Random(8)
    for number in range(500):
        observed, decided = copy.deepcopy(node()), results()
        observed[source.choice(IRRELEVANT_FACTS)] = source.choice([None, "other", 4711, {"other": 1}])
        _role, result = source.choice(modules(decided))
        result[source.choice(IRRELEVANT_KEYS)] = source.choice([None, "other", 4711, ["other"]])
        # A container engine adds interfaces, and the order of the ports is no property of the machine.
        observed["nics"].append({"name": "docker0", "kind": "bridge", "mac": f"02:42:00:00:00:{number % 256:02x}"})
        source.shuffle(observed["nics"])
        decided["other"] = source.choice([{}, {"changed": False, "diff": {"before": "1", "after": "2"}}, [{}], None])
        assert refused(observed, decided) == ([], ""), number


def test_passwords_are_compared_and_not_in_the_message():
    decided = results()
    decided["training_container"]["diff"]["after"]["env"] = {"TOKEN": "anders"}
    found, message = refused(node(), decided)
    assert [one.name for one in found] == ["new content of container"]
    assert "sha256 " in message and "geheim" not in message and "anders" not in message


def test_the_password_of_a_url_is_a_checksum():
    decided = results()
    decided["harp"]["diff"][0]["after"] = "url: https://user:geheim@mirror.example.com/\n"
    part = changes_of(decided)[2].parts[0]
    assert "geheim" not in part.after and "@mirror.example.com/" in part.after

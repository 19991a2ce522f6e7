# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Validate variables: types and choices are in the argument_specs of the roles, what else a value must be in rules.yml."""

import ipaddress
import math
import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.taco.train.plugins.module_utils.cluster.names import require_names
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import amount
from ansible_collections.taco.train.plugins.plugin_utils.acceleration import arms
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.lightcc import options_to_env
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import ENV_NAME, MCA_NAME, read_hosts
from ansible_collections.taco.train.plugins.plugin_utils.check import Check
from ansible_collections.taco.train.plugins.plugin_utils.container import spec as container
from ansible_collections.taco.train.plugins.plugin_utils.reboot import rolling
from ansible_collections.taco.train.plugins.plugin_utils.values import IMAGE, InvalidValueError, is_checksum
from ansible_collections.taco.train.plugins.plugin_utils.variables.combinations import GROUPS, Fleet, Group, problem
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import KINDS, RULES, Spec

VALID = "variables.valid"
Values = Mapping[str, Any]
TYPES = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "path": "a path",
    "list": "a list",
    "dict": "a mapping",
}
ELEMENTS = {"str": "texts", "int": "whole numbers", "dict": "mappings", "list": "lists"}
MOST_LETTERS = 120
# The absolute value of each number is less; infinity is not, and NaN is not, either.
LARGEST = 2**63
# These have a check of their own, which also finds out that they are missing.
ELSEWHERE = ("taco_gpus_per_node", "harp_script_sha256")
# Of these null and an empty text leave the value to the profile or to the engine.
UNSET = ("training_container_shm_size",)
# Different on every host, and in no group.
OF_ONE_HOST = ("taco_node_name", "ssh_trust_address")
# The values of variables with such names can be secrets. They are never shown.
HIDDEN = ("_access", "_env", "_environment")
# A function returns False or raises one of these for a value that it refuses.
REFUSED = (InvalidValueError, ArithmeticError, AttributeError, TypeError, ValueError, re.error)


def _is_word(value: Any) -> bool:
    """Return whether a value is an argument of a command."""
    return isinstance(value, (str, int, float)) and not isinstance(value, bool) and str(value) != ""


FUNCTIONS: Dict[str, Callable[[Any], Any]] = {
    "address": lambda value: ipaddress.ip_address(str(value)),
    "amount": lambda value: amount(value, "it") > 0,
    "batch": lambda value: rolling.plan([], value, 0, 1),
    "environment": lambda value: all(ENV_NAME.fullmatch(name) for name in value),
    "failures": lambda value: rolling.plan([], 1, value, 1),
    "gpus": container.read_gpus,
    "hosts": lambda value: not value or bool(read_hosts(value)),
    "image": lambda value: IMAGE.match(str(value)) is not None,
    "job": lambda value: require_names(str(value), 1),
    "lightcc": options_to_env,
    "mount": lambda value: container.split_mount(str(value)),
    "namespace": lambda value: require_names("job", 1, str(value)),
    "network": lambda value: ipaddress.ip_network(str(value), strict=False),
    "parameters": lambda value: all(MCA_NAME.fullmatch(name) for name in value),
    "pattern": lambda value: re.compile(str(value)),
    "sha256": lambda value: is_checksum(str(value).strip()),
    "size": lambda value: container.size_bytes(str(value)),
    "texts": lambda value: all(str(item).strip() for item in value),
    "ulimit": lambda value: container.check_ulimit(str(value)),
    "words": lambda value: bool(value) and all(_is_word(word) for word in value),
}
# These return the value that the groups of variables get. Their errors say how to correct it.
PARSERS: Dict[str, Callable[[Any, str], Any]] = {"arm": arms.arm_of, "arms": lambda value, _name: arms.arms_of(value)}


class Validated(NamedTuple):
    """A value as the role gets it, or the expectation that it doesn't meet."""

    value: Any = None
    expected: Optional[str] = None
    fix: Optional[str] = None
    """How to correct the value, where its function says more than that it is wrong."""


class InvalidValue(NamedTuple):
    """A finding, with the variable whose own value is wrong; None where values don't go together."""

    check: Check
    variable: Optional[str] = None
    is_explained: bool = False
    """Whether the fix already says what is expected."""


def meets(rule: Mapping[str, Any], value: Any) -> bool:
    """Whether a value is of the kind that a rule of rules.yml describes."""
    if "each" in rule:
        return all(meets(KINDS[rule["each"]], item) for item in value)
    if "choices" in rule:
        return value in rule["choices"]
    if "pattern" in rule:
        return re.fullmatch(rule["pattern"], str(value)) is not None
    if "function" in rule:
        try:
            return FUNCTIONS[rule["function"]](value) is not False
        except REFUSED:
            return False
    lowest, highest = rule.get("min", -math.inf), rule.get("max", math.inf)
    return bool(lowest <= value <= highest and rule.get("above", -math.inf) < value < rule.get("below", math.inf))


def is_misread(kind: str, value: Any, elements: str = "raw") -> bool:
    """Whether Ansible would take a mapping or a list for a text, a text for a list in a list, or a boolean for a number."""
    if kind == "list" and elements in ELEMENTS and isinstance(value, (list, tuple)):
        flat = elements == "list" and not all(isinstance(item, (list, tuple)) for item in value)
        return flat or any(item is None or is_misread(elements, item) for item in value)
    if kind in ("str", "path"):
        return isinstance(value, (Mapping, list, tuple))
    return kind in ("int", "float") and isinstance(value, bool)


def described(spec: Spec) -> str:
    """The type of a variable in words."""
    if spec.get("choices"):
        return "one of " + ", ".join(map(str, spec["choices"]))
    elements = spec.get("elements")
    return TYPES.get(spec["type"], "a value") + (f" of {ELEMENTS[elements]}" if elements in ELEMENTS else "")


def converted(spec: Spec, value: Any) -> Validated:
    """Convert a value to the type of its argument_spec as Ansible does where a role begins."""
    refused = Validated(expected=described(spec))
    if value is None:
        # Where the default is null, null means that the variable is not set.
        return Validated() if spec.get("default") is None and not spec.get("required") else refused
    if is_misread(spec["type"], value, spec.get("elements", "raw")):
        return refused
    rules = {key: spec[key] for key in ("type", "elements", "choices", "options") if key in spec}
    try:
        found = ArgumentSpecValidator({"value": rules}).validate({"value": value})
    except (ArithmeticError, ValueError):
        # It fails at infinity where a whole number is expected, and at a number that is too large for a float.
        return refused
    result = found.validated_parameters["value"]
    numbers = [item for item in (result if isinstance(result, list) else [result]) if isinstance(item, (int, float))]
    return refused if found.error_messages or not all(abs(one) < LARGEST for one in numbers) else Validated(result)


def validated(name: str, spec: Spec, value: Any) -> Validated:
    """A value as the role gets it, or what it should be. An empty text is a null from a template where null is the default."""
    kind = spec["type"]
    empty_is_null = name in UNSET or spec.get("default") is None and kind in ("str", "path", "raw")
    if value == "" and empty_is_null or value is None and name in UNSET:
        return Validated()
    rule = KINDS.get(RULES.get(name, ""), {})
    found = converted(spec, value)
    if found.expected:
        # The rule says more than the type.
        return Validated(None, rule["expected"] if rule and kind in ("str", "raw", "path") else found.expected)
    if value is None:
        return found
    if rule.get("function") in PARSERS:
        return _parsed(name, rule, found.value)
    if rule and not meets(rule, found.value):
        number = "a whole number, " if kind == "int" and not rule["expected"].startswith("a ") else ""
        return found._replace(expected=number + rule["expected"])
    if not rule and kind in ("int", "float") and found.value < 0:
        return found._replace(expected=described(spec) + ", 0 or more")
    return found


def _parsed(name: str, rule: Mapping[str, Any], value: Any) -> Validated:
    try:
        return Validated(PARSERS[rule["function"]](value, name))
    except InvalidValueError as error:
        # It follows the value in the same sentence.
        text = str(error).rstrip(".")
        return Validated(value, rule["expected"], text[:1].lower() + text[1:])


def shown(name: str, spec: Spec, value: Any) -> str:
    """A value for people to read; of one that can be secret only its type."""
    if value is not None and (spec.get("no_log") or name.endswith(HIDDEN)):
        kind = next((kind for kind in (bool, int, float, list, dict) if isinstance(value, kind)), str)
        return TYPES[kind.__name__] + ", not shown"
    is_bare = isinstance(value, str) and value.strip() == value != "" and value.isprintable()
    text = "null" if value is None else repr(value) if isinstance(value, str) and not is_bare else str(value)
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 3] + "..."


def _fix(name: str, spec: Spec) -> str:
    default = spec.get("default")
    is_short = default is not None and default != "" and len(str(default)) <= 40 and "{{" not in str(default)
    return f"correct {name}" + (f"; the default is {default}" if is_short else ", or leave it out")


class Validator:
    """The variables of roles, mostly of all. Hosts mostly have the same values, and each value is checked once."""

    def __init__(self, specs: Mapping[str, Spec], fleet: Fleet = (), groups: Sequence[Group] = GROUPS):
        self.specs = specs
        self._fleet = fleet
        self._groups = groups
        self._values: Dict[Tuple[str, str], Validated] = {}
        self._together: Dict[Tuple[str, str], str] = {}

    def problems(self, variables: Values, unknown: Sequence[str] = ()) -> List[InvalidValue]:
        """The wrong values of a host, a check for each. unknown are the variables that can't be computed."""
        problems, values, wrong = [], {}, set(unknown)
        for name, spec in self.specs.items():
            if name not in variables or name in wrong:
                continue
            value, default = variables[name], spec.get("default")
            # A default is what the role itself has, and can be a template.
            is_default = value == default and isinstance(value, bool) == isinstance(default, bool)
            found = Validated(value) if is_default else self._validated(name, spec, value)
            values[name] = found.value
            if found.expected:
                wrong.add(name)
            if found.expected and name not in ELSEWHERE:
                text = f"{name}: {shown(name, spec, value)}"
                check = Check(VALID, "fail", found.expected, text, found.fix or _fix(name, spec))
                problems.append(InvalidValue(check, name, bool(found.fix)))
        return problems + self._problems_of_groups(values, wrong)

    def _validated(self, name: str, spec: Spec, value: Any) -> Validated:
        key = (name, repr(value))
        if key not in self._values:
            self._values[key] = validated(name, spec, value)
        return self._values[key]

    def _problems_of_groups(self, values: Values, wrong: Set[str]) -> List[InvalidValue]:
        problems = []
        # One text for a host, whichever group reads which of the values.
        texts = repr([(name, value) for name, value in values.items() if name not in OF_ONE_HOST])
        for group in self._groups:
            if any(name.startswith(group.prefixes) for name in wrong):
                continue
            # Beside the role benchmark, a comparison or a search without values of its own has nothing more to check.
            optional = group.prefixes[0] in ("compare_", "locate_") and len(self._groups) > 1
            if optional and not self._is_given(group.prefixes[0], values):
                continue
            key = (group.prefixes[0], texts)
            if key not in self._together:
                self._together[key] = problem(group, values, self._fleet, list(self.specs))
            if self._together[key]:
                problems.append(InvalidValue(self._check(group, self._together[key]), is_explained=True))
        return problems

    def _is_given(self, prefix: str, values: Values) -> bool:
        specs = self.specs
        return any(name.startswith(prefix) and value != specs[name].get("default") for name, value in values.items())

    def _check(self, group: Group, message: str) -> Check:
        named = [name for name in dict.fromkeys(re.findall(r"\b[a-z][a-z0-9_]+\b", message)) if name in self.specs]
        fix = "correct " + (", ".join(named) or f"the variables {group.prefixes[0]}*")
        return Check(VALID, "fail", "values that go together", message, fix)


def checks_of(problems: Sequence[InvalidValue]) -> List[Check]:
    """The outcome for a host: a check for each wrong value, or one that passes."""
    return [found.check for found in problems] or [Check(VALID, "pass")]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check that every variable has a value that its role takes: the argument_specs of all roles, and the rules of later steps."""

import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import ArmError
from ansible_collections.taco.train.plugins.plugin_utils.check import Check
from ansible_collections.taco.train.plugins.plugin_utils.variables.groups import GROUPS, Fleet, Group, problem
from ansible_collections.taco.train.plugins.plugin_utils.variables.rules import RULES, Rule
from ansible_collections.taco.train.plugins.plugin_utils.variables.value import Typed, described, shown, typed

VALID = "variables.valid"
# These have a check of their own, which also finds out that they are missing.
ELSEWHERE = ("taco_gpus_per_node", "harp_script_sha256")
# Of these null and an empty text leave the value to the profile or to the engine.
UNSET = ("training_container_shm_size",)
# Different on every host, and in no group.
OF_ONE_HOST = ("taco_node_name", "ssh_trust_address")
Values = Mapping[str, Any]


class Wrong(NamedTuple):
    """A finding, with the variable whose own value is wrong; None where values don't go together."""

    check: Check
    variable: Optional[str] = None
    is_explained: bool = False
    """Whether the fix already says what is expected."""


class Options:
    """The variables of roles, mostly of all. Hosts mostly have the same values, and each value is checked once."""

    def __init__(self, specs: Mapping[str, Mapping[str, Any]], fleet: Fleet = (), groups: Sequence[Group] = GROUPS):
        self.specs = specs
        self.fleet = fleet
        self.groups = groups
        self._values: Dict[Tuple[str, str], Typed] = {}
        self._groups: Dict[Tuple[int, str], str] = {}

    def problems(self, variables: Values, unknown: Sequence[str] = ()) -> List[Wrong]:
        """The wrong values of a host, a check for each. unknown are the variables that can't be computed."""
        found = []
        values = {}
        wrong = set(unknown)
        for name, spec in self.specs.items():
            if name not in variables or name in wrong:
                continue
            # A default is what the role itself has, and can be a template.
            default = spec.get("default")
            if variables[name] == default and isinstance(variables[name], bool) == isinstance(default, bool):
                values[name] = variables[name]
                continue
            one = self._typed(name, spec, variables[name])
            values[name] = one.value
            if one.expected:
                wrong.add(name)
                if name not in ELSEWHERE:
                    text = f"{name}: {shown(name, spec, variables[name])}"
                    check = Check(VALID, "fail", one.expected, text, one.fix or _fix(name, spec))
                    found.append(Wrong(check, name, bool(one.fix)))
        return found + self._together(values, wrong)

    def _typed(self, name: str, spec: Mapping[str, Any], value: Any) -> Typed:
        key = (name, repr(value))
        if key not in self._values:
            self._values[key] = judged(name, spec, value)
        return self._values[key]

    def _together(self, values: Values, wrong: "set[str]") -> List[Wrong]:
        found = []
        # One text for a host, whichever group reads which of the values.
        texts = repr([(name, value) for name, value in values.items() if name not in OF_ONE_HOST])
        for index, group in enumerate(self.groups):
            if any(name.startswith(group.prefixes) for name in wrong):
                continue
            # Beside the role benchmark, a search without values of its own has nothing more to check.
            optional = group.prefixes[0] == "compare_" or group.prefixes[0] == "locate_" and len(self.groups) > 1
            if optional and not self._is_given(group.prefixes[0], values):
                continue
            key = (index, texts)
            if key not in self._groups:
                self._groups[key] = problem(group, values, self.fleet, list(self.specs))
            if self._groups[key]:
                found.append(Wrong(self._check(group, self._groups[key]), is_explained=True))
        return found

    def _is_given(self, prefix: str, values: Values) -> bool:
        specs = self.specs
        return any(name.startswith(prefix) and value != specs[name].get("default") for name, value in values.items())

    def _check(self, group: Group, message: str) -> Check:
        named = [name for name in dict.fromkeys(re.findall(r"\b[a-z][a-z0-9_]+\b", message)) if name in self.specs]
        fix = "correct " + (", ".join(named) or f"the variables {group.prefixes[0]}*")
        return Check(VALID, "fail", "values that go together", message, fix)


def _fix(name: str, spec: Mapping[str, Any]) -> str:
    default = spec.get("default")
    shortly = default is not None and default != "" and len(str(default)) <= 40 and "{{" not in str(default)
    return f"correct {name}" + (f"; the default is {default}" if shortly else ", or leave it out")


def judged(name: str, spec: Mapping[str, Any], value: Any) -> Typed:
    """A value as the role gets it, or what it should be. An empty text is a null from a template where null is the default."""
    if name in UNSET and value in (None, ""):
        return Typed(None)
    if value == "" and spec.get("default") is None and spec["type"] in ("str", "path", "raw"):
        return Typed(None)
    one = typed(spec, value)
    rule = RULES.get(name)
    if one.expected:
        # The rule says more than the type.
        return Typed(None, rule.expected if rule and spec["type"] in ("str", "raw", "path") else one.expected)
    if rule and rule.parses and value is not None:
        return _parsed(rule, one.value)
    if rule and value is not None and rule.refuses(one.value):
        number = "a whole number, " if spec["type"] == "int" and not rule.expected.startswith("a ") else ""
        return Typed(one.value, number + rule.expected)
    if rule is None and spec["type"] in ("int", "float") and value is not None and not one.value >= 0:
        return Typed(one.value, described(spec) + ", 0 or more")
    return one


def _parsed(rule: Rule, value: Any) -> Typed:
    """The value that a rule makes of one, or the error of the function that the roles call, too."""
    try:
        return Typed(rule.accepts(value))
    except ArmError as error:
        # It follows the value in the same sentence.
        text = str(error).rstrip(".")
        return Typed(value, rule.expected, text[:1].lower() + text[1:])


def valid(wrong: Sequence[Wrong]) -> List[Check]:
    """The outcome for a host: a check for each wrong value, or one that passes."""
    return [one.check for one in wrong] or [Check(VALID, "pass")]

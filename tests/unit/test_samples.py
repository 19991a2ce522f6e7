# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the documentation shows as a sample has the type that it declares, and no MAC address or time is read as a number."""

import ast
from pathlib import Path

import pytest
import yaml

TRAIN = Path(__file__).parents[2] / "collections/ansible_collections/taco/train"
MODULES = sorted((TRAIN / "plugins/modules").glob("*.py"))
PARTS = ("DOCUMENTATION", "EXAMPLES", "RETURN")
TYPES = {
    "str": str,
    "path": str,
    "bool": bool,
    "int": int,
    "float": (int, float),
    "list": list,
    "dict": dict,
    "raw": object,
}


def parts(module):
    """Return the parts of a module's documentation as YAML texts."""
    assigned = [node for node in ast.parse(module.read_text()).body if isinstance(node, ast.Assign)]
    texts = {node.targets[0].id: node.value for node in assigned if isinstance(node.targets[0], ast.Name)}
    return {part: ast.literal_eval(texts[part]) for part in PARTS if part in texts}


def is_a(value, kind):
    """Say whether a value has a declared type. A boolean is an integer to Python and to nobody else."""
    if value is None:
        return True
    return isinstance(value, TYPES[kind]) and (kind in ("bool", "raw") or not isinstance(value, bool))


def wrong(name, declared, sample):
    """Yield the samples that have another type than declared, in what they contain too."""
    if not is_a(sample, declared["type"]):
        yield f"{name}: {sample!r} is no {declared['type']}"
    entries = sample if isinstance(sample, list) else [sample]
    if declared["type"] == "list" and "elements" in declared:
        for entry in entries if isinstance(sample, list) else []:
            if not is_a(entry, declared["elements"]):
                yield f"{name}: {entry!r} is no {declared['elements']}"
    for key, inner in declared.get("contains", {}).items():
        for entry in entries:
            if isinstance(entry, dict) and key in entry:
                yield from wrong(f"{name}.{key}", dict(inner, contains={}), entry[key])
        yield from wrong(f"{name}.{key}", inner, inner.get("sample"))


def scalars(node):
    """Yield every scalar in a YAML document."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    for child in node.value if isinstance(node, yaml.CollectionNode) else []:
        for one in child if isinstance(child, tuple) else (child,):
            yield from scalars(one)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_every_documented_sample_has_the_declared_type(module):
    returned = yaml.safe_load(parts(module)["RETURN"]) or {}
    assert [text for name, one in returned.items() for text in wrong(name, one, one.get("sample"))] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_no_documented_value_with_colons_is_read_as_a_number_to_base_60(module):
    found = [
        (part, node.value, node.start_mark.line)
        for part, text in parts(module).items()
        for node in scalars(yaml.compose(text))
        if node.tag in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float") and ":" in node.value
    ]
    assert found == []

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the server refuses of an object's content, and what it makes of that of an MPIJob by its CRD."""

import re

import jsonschema

from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError
from kubelab import status
from kubelab.crd_schema import MPIJOBS, POD_SPEC, completed
from kubelab.quantities import amount
from kubelab.resources import MPIJOB_GROUP, POD

POD_OBJECT = {"type": "object", "properties": {"spec": POD_SPEC}, "required": ["spec"]}
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
NAME_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
    "with an alphanumeric character"
)


def _path(error):
    text = ""
    for step in error.absolute_path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _cause(error):
    """Return (reason, field, message) as the server words what a schema finds."""
    where = _path(error)
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return "FieldValueRequired", f"{where}.{missing}".strip("."), "Required value"
    if error.validator == "enum":
        listed = ", ".join(f'"{value}"' for value in error.validator_value)
        return "FieldValueNotSupported", where, f'Unsupported value: "{error.instance}": supported values: {listed}'
    found = {bool: "boolean", str: "string", int: "integer", float: "number", list: "array", dict: "object"}
    kind = found.get(type(error.instance), "null")
    shown = error.instance if kind in ("boolean", "integer", "number") else f'"{kind}"'
    if error.validator == "type":
        said = f'{where} in body must be of type {error.validator_value}: "{kind}"'
        return "FieldValueTypeInvalid", where, f"Invalid value: {shown}: {said}"
    return "FieldValueInvalid", where, f"Invalid value: {shown}: {where} in body is no valid value"


def _schema_causes(schema, thing):
    errors = jsonschema.Draft202012Validator(schema).iter_errors(thing)
    return [_cause(error) for error in sorted(errors, key=lambda error: [str(step) for step in error.absolute_path])]


def _hugepage_causes(pod):
    """The errors of Kubernetes about hugepages: a request equals the limit, and needs cpu or memory too."""
    causes = []
    for index, container in enumerate((pod.get("spec") or {}).get("containers") or []):
        resources = container.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        pages = sorted(name for name in {*limits, *requests} if name.startswith("hugepages-"))
        where = f"spec.containers[{index}].resources"
        if pages and not {"cpu", "memory"} & {*limits, *requests}:
            causes.append(("FieldValueForbidden", where, "Forbidden: HugePages require cpu or memory"))
        for name in pages:
            limit = limits.get(name)
            if limit is None or amount(requests.get(name, limit), name) != amount(limit, name):
                field = f"{where}.requests"
                value = requests.get(name)
                causes.append(
                    ("FieldValueInvalid", field, f'Invalid value: "{value}": must be equal to {name} limit of {limit}')
                )
    return causes


def complete(resource, thing, strict=False):
    """Return an MPIJob as the server stores it: without unknown fields, which strict validation refuses, and with defaults."""
    if resource.group != MPIJOB_GROUP:
        return thing
    unknown = []
    stored = completed(MPIJOBS[resource.version], thing, unknown)
    if unknown and strict:
        said = ", ".join(f'unknown field "{path}"' for path in unknown)
        refused = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
        raise status.bad_request(f"{refused}: strict decoding error: {said}")
    return stored


def check(resource, thing):
    """Raise what is wrong with the content of an object."""
    name = (thing.get("metadata") or {}).get("name") or ""
    causes = []
    if name and not (NAME.fullmatch(name) and len(name) <= 253):
        causes.append(("FieldValueInvalid", "metadata.name", f'Invalid value: "{name}": {NAME_RULE}'))
    if resource.group == MPIJOB_GROUP:
        causes += _schema_causes(MPIJOBS[resource.version], thing)
    if resource.key == POD.key:
        causes += _schema_causes(POD_OBJECT, thing)
        try:
            causes += [] if causes else _hugepage_causes(thing)
        except MpijobError as error:
            raise status.bad_request(f'Pod in version "v1" cannot be handled as a Pod: {error}') from error
    if causes:
        raise status.invalid(resource, name, causes)

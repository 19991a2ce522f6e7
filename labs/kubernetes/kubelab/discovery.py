# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the server says of itself: its version, and which groups, versions and resources it serves."""

VERSION = {
    "major": "1",
    "minor": "28",
    "gitVersion": "v1.28.3",
    "gitTreeState": "clean",
    "goVersion": "go1.20.10",
    "compiler": "gc",
    "platform": "linux/amd64",
}


def _rank(version):
    """Order versions as Kubernetes does: v2 before v1, v1 before v1beta1, and that before v1alpha1."""
    word = "alpha" if "alpha" in version else "beta" if "beta" in version else ""
    major, _sign, minor = version[1:].partition(word) if word else (version[1:], "", "0")
    return ({"": 0, "beta": 1, "alpha": 2}[word], -int(major), -int(minor or 0))


def _group(name, resources):
    versions = sorted({resource.version for resource in resources if resource.group == name}, key=_rank)
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _entry(resource):
    entry = {"name": resource.plural, "singularName": resource.kind.lower(), "namespaced": resource.namespaced}
    entry.update(kind=resource.kind, verbs=list(resource.verbs))
    return {**entry, "shortNames": list(resource.short)} if resource.short else entry


SUBRESOURCES = {
    "log": ("Pod", ["get"]),
    "eviction": ("Eviction", ["create"]),
    "exec": ("PodExecOptions", ["create", "get"]),
}


def _subentry(resource, name):
    kind, verbs = SUBRESOURCES.get(name, (resource.kind, ["get", "patch", "update"]))
    entry = {"name": f"{resource.plural}/{name}", "singularName": "", "namespaced": resource.namespaced, "kind": kind}
    if name == "eviction":
        entry.update(group="policy", version="v1")
    return {**entry, "verbs": verbs}


def answer(parts, resources):
    """The document at a path without objects, or None."""
    if parts == ["version"]:
        return VERSION
    if parts == ["api"]:
        return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
    groups = list(dict.fromkeys(resource.group for resource in resources if resource.group))
    if parts == ["apis"]:
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(name, resources) for name in groups]}
    if len(parts) == 2 and parts[0] == "apis" and parts[1] in groups:
        return {"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1], resources)}
    group_version = "/".join(parts[1:])
    found = [resource for resource in resources if resource.api_version == group_version]
    if not found or parts[0] != ("apis" if "/" in group_version else "api"):
        return None
    entries = [_entry(resource) for resource in found]
    entries += [_subentry(resource, name) for resource in found for name in resource.subresources]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": entries}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every manifest is one that the CRD of MPIJobs takes whole: the API server drops fields that it does not know."""

import contextlib
import os
from pathlib import Path

import jsonschema
import mpijob_schema
import yaml
from contract_cluster import NODE, real

CRDS = "TACO_CONTRACT_CRDS"
"""The variable of the environment with a folder of CRDs, each mpijobs.kubeflow.org-VERSION.yaml."""
CRD = "mpijobs.kubeflow.org"
VERSIONS = ("v1", "v2beta1")


def closed(schema):
    """Return a schema of Kubernetes in which unknown fields are errors."""
    found = {
        key: closed(value) if isinstance(value, dict) and key != "properties" else value
        for key, value in schema.items()
    }
    if "properties" in schema:
        found["properties"] = {name: closed(value) for name, value in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            found.setdefault("additionalProperties", False)
    return found


def schema_of(crd, version):
    (schema,) = [one["schema"] for one in crd["spec"]["versions"] if one["name"] == version]
    return closed(schema["openAPIV3Schema"])


def schemas(cluster):
    """Return the schema of each version: of the real cluster, of the folder, or those of the project."""
    if not cluster.double:
        return {cluster.version: schema_of(cluster.get("CustomResourceDefinition", CRD), cluster.version)}
    if CRDS not in os.environ:
        return {version: mpijob_schema.document(version) for version in VERSIONS}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    texts = {
        version: Path(os.environ[CRDS], f"{CRD}-{version}.yaml").read_text(encoding="utf-8") for version in VERSIONS
    }
    return {version: schema_of(yaml.load(text, loader), version) for version, text in texts.items()}


OPTIONS = [
    {},
    {"gpus": "all", "gpus_per_worker": 8, "hugepages": 50, "privileged": True, "mounts": None, "memory": None},
    {"network_mode": "host", "environment": {"NCCL_DEBUG": "INFO"}, "mounts_extra": ["/data:/data:ro"]},
    {"gpus": "all", "gpu_topology": True, "clean_pod_policy": "All", "command": ["sh", "-c", "true"]},
]


def test_the_crd_takes_every_field_of_a_manifest(double):
    node = os.environ.get(NODE)
    with real(node) if node else contextlib.nullcontext(double(serve=VERSIONS)) as cluster:
        # Who may not list the nodes is not told that they lack GPUs.
        account = cluster.account(("list", "nodes"))
        for version, schema in schemas(cluster).items():
            validator = jsonschema.Draft202012Validator(schema)
            for options in OPTIONS:
                manifest = cluster.job(check=True, api_version=version, **options, **account)["manifest"]
                errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(manifest)]
                assert errors == [], (version, options)

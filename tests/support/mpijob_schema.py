# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What of the CRDs of MPIJob the manifests use, and nothing else: a key that isn't here is a mistake.

Written from the CRDs of Training Operator (v1) and MPI Operator (v2beta1), and stricter: what they leave open because
somebody may need it is closed, and what Kubernetes checks only later, as the forms of names, is checked.
"""

import jsonschema

QUANTITY = {
    "anyOf": [
        {"type": "integer", "minimum": 1},
        {"type": "string", "pattern": r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$"},
    ]
}
TEXT = {"type": "string", "minLength": 1}
LABEL = {"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"}
PATH = {"type": "string", "pattern": "^/[^:]*$"}


def mapping(required, **optional):
    """Return the schema of an object with these keys only."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def sequence(item):
    return {"type": "array", "items": item, "minItems": 1}


def amounts(*names):
    return {
        "type": "object",
        "propertyNames": {"enum": list(names)},
        "additionalProperties": QUANTITY,
        "minProperties": 1,
    }


def container(name, *resources):
    return mapping(
        {
            "image": TEXT,
            "name": {"const": name},
            "resources": mapping({"limits": amounts(*resources), "requests": amounts(*resources)}),
        },
        command=sequence({"type": "string"}),
        env=sequence(mapping({"name": TEXT, "value": {"type": "string"}})),
        securityContext=mapping({"privileged": {"const": True}}),
        volumeMounts=sequence(mapping({"mountPath": PATH, "name": LABEL}, readOnly={"const": True})),
    )


def replica(replicas, one, **template):
    volume = {
        "oneOf": [
            mapping({"name": LABEL, "hostPath": mapping({"path": PATH})}),
            mapping({"name": LABEL, "emptyDir": mapping({"medium": {"const": "Memory"}, "sizeLimit": QUANTITY})}),
        ]
    }
    pod = mapping(
        {"containers": {**sequence(one), "maxItems": 1}},
        volumes=sequence(volume),
        hostNetwork={"const": True},
        dnsPolicy={"const": "ClusterFirstWithHostNet"},
    )
    return mapping({"replicas": replicas, "template": mapping({"spec": pod}, **template)})


POLICY = {"enum": ["Running", "All", "None"]}
TOPOLOGY = mapping({"gpu-topology": LABEL, "gpu-topology-replica": {"type": "string", "pattern": "^[1-9][0-9]*$"}})
LAUNCHER = replica({"const": 1}, container("mpi-launcher", "cpu", "memory"))
WORKER = replica(
    {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
    container("mpi-worker", "hugepages-1Gi", "memory", "nvidia.com/gpu", "aliyun.com/gpu"),
    metadata=mapping({"labels": TOPOLOGY}),
)
MANAGED = mapping({"app.kubernetes.io/managed-by": {"const": "taco.train"}})
SPEC = {
    "slotsPerWorker": {"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
    "runPolicy": mapping({"cleanPodPolicy": POLICY}),
    "mpiReplicaSpecs": mapping({"Launcher": LAUNCHER, "Worker": WORKER}),
}
SPECS = {"v1": mapping({**SPEC, "cleanPodPolicy": POLICY}), "v2beta1": mapping(SPEC)}


def document(version):
    """The schema of a manifest of this version."""
    return mapping(
        {
            "apiVersion": {"const": f"kubeflow.org/{version}"},
            "kind": {"const": "MPIJob"},
            "metadata": mapping({"name": LABEL, "labels": MANAGED}, namespace=LABEL),
            "spec": SPECS[version],
        }
    )


def validate(manifest, version):
    """Raise what is wrong with a manifest of this version."""
    jsonschema.Draft202012Validator(document(version)).validate(manifest)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The schema of MPIJobs, as the CRDs of Training Operator (v1) and MPI Operator (v2beta1) have it, and of the pods in them.

An object marked x-closed has all of its fields here: others are dropped, as Kubernetes prunes them. Below the fields of a
container everything is kept.
"""

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
INT32 = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
TEXT, FLAG = {"type": "string"}, {"type": "boolean"}
TEXTS = {"type": "array", "items": TEXT}
LABELS = {"type": "object", "additionalProperties": TEXT}


def _object(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


def _list(required, **properties):
    return {"type": "array", "items": _object(required, **properties)}


AMOUNTS = {
    "type": "object",
    "additionalProperties": {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": QUANTITY}]},
}
CONTAINERS = _list(
    ["name"],
    name=TEXT,
    image=TEXT,
    command=TEXTS,
    args=TEXTS,
    env=_list(["name"], name=TEXT, value=TEXT),
    resources=_object(limits=AMOUNTS, requests=AMOUNTS),
    securityContext=_object(privileged=FLAG),
    volumeMounts=_list(["mountPath", "name"], mountPath=TEXT, name=TEXT, readOnly=FLAG),
)
VOLUMES = _list(
    ["name"],
    name=TEXT,
    hostPath=_object(["path"], path=TEXT, type=TEXT),
    emptyDir=_object(medium=TEXT, sizeLimit={"anyOf": [{"type": "integer"}, {"type": "string", "pattern": QUANTITY}]}),
)
POD_SPEC = _object(
    ["containers"],
    containers=CONTAINERS,
    initContainers=CONTAINERS,
    volumes=VOLUMES,
    hostNetwork=FLAG,
    dnsPolicy=TEXT,
    nodeName=TEXT,
    nodeSelector=LABELS,
)
# What else these objects have; their own schemas are not written here.
CONTAINER_FIELDS = (
    "envFrom imagePullPolicy lifecycle livenessProbe ports readinessProbe resizePolicy restartPolicy startupProbe stdin stdinOnce "
    "terminationMessagePath terminationMessagePolicy tty volumeDevices workingDir"
)
POD_FIELDS = (
    "activeDeadlineSeconds affinity automountServiceAccountToken dnsConfig enableServiceLinks ephemeralContainers hostAliases "
    "hostIPC hostPID hostUsers hostname imagePullSecrets os overhead preemptionPolicy priority priorityClassName readinessGates "
    "resourceClaims restartPolicy runtimeClassName schedulerName schedulingGates securityContext serviceAccount "
    "serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations "
    "topologySpreadConstraints"
)


def _closed(schema, names=""):
    """Return the schema of an object whose other fields are not kept, with these fields of any kind."""
    properties = {**schema["properties"], **{name: {} for name in names.split()}}
    return {**schema, "properties": properties, "x-closed": True}


def _template(pod_fields="", container_fields=""):
    container = _closed(CONTAINERS["items"], f"{CONTAINER_FIELDS} {container_fields}")
    containers = {"type": "array", "items": container}
    spec = _closed(POD_SPEC, f"{POD_FIELDS} {pod_fields}")
    spec["properties"].update(containers=containers, initContainers=containers)
    metadata = _object(labels=LABELS, annotations=LABELS, finalizers=TEXTS, name=TEXT, namespace=TEXT)
    return _closed(_object(metadata=_closed(metadata), spec=spec))


def _replicas(template):
    return {
        "type": "object",
        "additionalProperties": _closed(_object(replicas=INT32, restartPolicy=TEXT, template=template)),
    }


SCHEDULING = _closed(
    _object(minAvailable=INT32, minResources=AMOUNTS, priorityClass=TEXT, queue=TEXT, scheduleTimeoutSeconds=INT32)
)
RUN_POLICY = _closed(
    _object(
        activeDeadlineSeconds={"type": "integer"},
        backoffLimit=INT32,
        cleanPodPolicy=TEXT,
        schedulingPolicy=SCHEDULING,
        suspend={**FLAG, "default": False},
        ttlSecondsAfterFinished=INT32,
    )
)
V1 = _object(
    ["mpiReplicaSpecs"],
    cleanPodPolicy=TEXT,
    mainContainer=TEXT,
    mpiReplicaSpecs=_replicas(_template()),
    runPolicy=RUN_POLICY,
    slotsPerWorker=INT32,
)
V2BETA1 = _object(
    ["mpiReplicaSpecs"],
    launcherCreationPolicy={**TEXT, "default": "AtStartup"},
    mpiImplementation={**TEXT, "enum": ["OpenMPI", "Intel", "MPICH"], "default": "OpenMPI"},
    mpiReplicaSpecs=_replicas(_template("hostnameOverride resources workloadRef", "restartPolicyRules")),
    runLauncherAsWorker={**FLAG, "default": False},
    runPolicy=_closed({**RUN_POLICY, "properties": {**RUN_POLICY["properties"], "managedBy": TEXT}}),
    slotsPerWorker={**INT32, "default": 1},
    sshAuthMountPath={**TEXT, "default": "/root/.ssh"},
)
# The CRD of v1alpha1 has next to no schema and keeps every field.
V1ALPHA1 = _object(
    replicas=INT32,
    slotsPerWorker=INT32,
    launcherOnMaster=FLAG,
    backoffLimit=INT32,
    cleanPodPolicy=TEXT,
    template=_object(metadata=_object(labels=LABELS, annotations=LABELS), spec=POD_SPEC),
)
ROOT = {"apiVersion": TEXT, "kind": TEXT, "metadata": {"type": "object"}, "status": {"type": "object"}}
MPIJOBS = {
    "v1": _closed(_object(**ROOT, spec=_closed(V1))),
    "v2beta1": _closed(_object(**ROOT, spec=_closed(V2BETA1))),
    "v1alpha1": _object(**ROOT, spec=V1ALPHA1),
}


def _inner(schema, key):
    found = schema.get("additionalProperties")
    return (schema.get("properties") or {}).get(key) or (found if isinstance(found, dict) else {})


def completed(schema, value, unknown, path=""):
    """Return a value without the fields that its schema doesn't know, and with its defaults; unknown gets their paths."""
    if isinstance(value, list):
        items = schema.get("items") or {}
        return [completed(items, item, unknown, f"{path}[{index}]") for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, inner in value.items():
        where = f"{path}.{key}".strip(".")
        if schema.get("x-closed") and key not in schema["properties"]:
            unknown.append(where)
        else:
            kept[key] = completed(_inner(schema, key), inner, unknown, where)
    for key, inner in (schema.get("properties") or {}).items():
        if "default" in inner and kept.get(key) is None:
            kept[key] = inner["default"]
    return kept

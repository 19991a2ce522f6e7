# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The admission of PodSecurity: what a namespace's label keeps its pods from. Values in, values out.

The checks are those that a pod of an MPIJob can fail, in the order and the words of Kubernetes.
"""

LABEL = "pod-security.kubernetes.io/enforce"
BASELINE_CAPABILITIES = {
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
}
RESTRICTED_CAPABILITIES = {"NET_BIND_SERVICE"}
VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
PROFILES = ("RuntimeDefault", "Localhost")


def _quoted(names):
    return ", ".join(f'"{name}"' for name in names)


def _named(word, names):
    return f"{word}{'s' if len(names) > 1 else ''} {_quoted(names)}"


def _containers(spec):
    return [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]


def _context(thing):
    return thing.get("securityContext") or {}


def _failing(spec, passes):
    """Return the names of the containers whose security context doesn't pass."""
    return [container["name"] for container in _containers(spec) if not passes(_context(container))]


def _added(spec, permitted):
    """Return the violation of containers that add capabilities outside the permitted set, or None."""
    names, added = [], []
    for container in _containers(spec):
        more = [one for one in (_context(container).get("capabilities") or {}).get("add") or [] if one not in permitted]
        if more:
            names.append(container["name"])
            added += more
    listed = _quoted(sorted(set(added)))
    return (
        f"{_named('container', names)} must not include {listed} in securityContext.capabilities.add" if names else None
    )


def _host_namespaces(spec):
    found = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return f"host namespaces ({', '.join(found)})" if found else None


def _host_paths(spec):
    names = [volume["name"] for volume in spec.get("volumes") or [] if "hostPath" in volume]
    return f"hostPath volumes ({_named('volume', names)})" if names else None


def _privileged(spec):
    names = _failing(spec, lambda context: not context.get("privileged"))
    said = f"{_named('container', names)} must not set securityContext.privileged=true"
    return f"privileged ({said})" if names else None


def _capabilities(spec):
    said = _added(spec, BASELINE_CAPABILITIES)
    return f"non-default capabilities ({said})" if said else None


def _escalation(spec):
    names = _failing(spec, lambda context: context.get("allowPrivilegeEscalation") is False)
    said = f"{_named('container', names)} must set securityContext.allowPrivilegeEscalation=false"
    return f"allowPrivilegeEscalation != false ({said})" if names else None


def _dropped(spec):
    names = _failing(spec, lambda context: "ALL" in ((context.get("capabilities") or {}).get("drop") or []))
    said = [f'{_named("container", names)} must set securityContext.capabilities.drop=["ALL"]'] if names else []
    said += filter(None, [_added(spec, RESTRICTED_CAPABILITIES)])
    return f"unrestricted capabilities ({'; '.join(said)})" if said else None


def _volumes(spec):
    kinds = {volume["name"]: sorted({*volume} - {"name"} - VOLUMES) for volume in spec.get("volumes") or []}
    names = [name for name, found in kinds.items() if found]
    found = sorted({kind for kind in kinds.values() for kind in kind})
    verb = "use" if len(names) > 1 else "uses"
    return (
        f"restricted volume types ({_named('volume', names)} {verb} {_named('restricted volume type', found)})"
        if names
        else None
    )


def _user(spec):
    of_pod = _context(spec).get("runAsNonRoot")
    names = _failing(spec, lambda context: context.get("runAsNonRoot", of_pod))
    said = f"pod or {_named('container', names)} must set securityContext.runAsNonRoot=true"
    return f"runAsNonRoot != true ({said})" if names else None


def _profile(spec):
    def kind(context):
        return (context.get("seccompProfile") or {}).get("type")

    of_pod = kind(_context(spec))
    names = _failing(spec, lambda context: (kind(context) or of_pod) in PROFILES)
    said = f"pod or {_named('container', names)} must set securityContext.seccompProfile.type to"
    return f'seccompProfile ({said} "RuntimeDefault" or "Localhost")' if names else None


# What restricted checks more strictly stands in place of what baseline checks.
LEVELS = {
    "privileged": (),
    "baseline": (_capabilities, _host_namespaces, _host_paths, _privileged),
    "restricted": (_host_namespaces, _privileged, _escalation, _dropped, _volumes, _user, _profile),
}


def violation(labels, spec):
    """The reason why a namespace with these labels refuses a pod of this specification, or None."""
    level = (labels or {}).get(LABEL, "privileged")
    found = [said for said in (check(spec) for check in LEVELS[level]) if said]
    version = (labels or {}).get(f"{LABEL}-version", "latest")
    return f'violates PodSecurity "{level}:{version}": {", ".join(found)}' if found else None

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Look at a cluster before anything is done to it, by the modules of kubernetes.core, or wait until objects of it change."""

from typing import Any, Mapping

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.modules.kubernetes_info import ARGUMENTS
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes import pods
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.action import cluster_of
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.client import WATCH, Cluster, KubernetesError
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.errors import FORBIDDEN
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.readiness import outline
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.names import CRD
from ansible_collections.taco.train.plugins.plugin_utils.preflight import kubernetes
from ansible_collections.taco.train.plugins.plugin_utils.preflight.kubernetes import PERMISSIONS, missing, review


def answers(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what kubernetes.core.k8s made of several objects."""
    made = result.get("result") or {}
    return [one.get("result") or {} for one in made.get("results") or [{"result": made}]]


class ActionModule(ActionBase):
    """The shell: a cluster that can't be asked is one of the findings, and no failure of the task."""

    _supports_check_mode = True
    _supports_async = False
    _requires_connection = True

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        _ignored, options = self.validate_argument_spec(argument_spec=ARGUMENTS)

        cluster = cluster_of(self, options, task_vars)
        if options["watched"]:
            return self._watch(cluster, options)
        facts: dict[str, Any] = dict.fromkeys(("error", "missing", "nodes", "crd", "operators"))
        facts["crd_forbidden"] = False
        try:
            self._look(cluster, options["namespace"], facts)
        except KubernetesError as error:
            facts["error"] = str(error)
        return {"changed": False, "kubernetes": facts}

    def _watch(self, cluster: Cluster, options: Mapping[str, Any]) -> dict[str, Any]:
        """Wait until one of the objects changes."""
        result, cause = cluster.attempt(WATCH, {name: options[name] for name in ("watched", "seconds")})
        if cause is not None:
            return {"failed": True, "msg": str(cluster.error("watch objects", cause))}
        return {"changed": False, "differs": bool(result["differs"])}

    def _look(self, cluster: Cluster, namespace: str, facts: dict[str, Any]) -> None:
        asked = [review(permission, namespace) for permission in PERMISSIONS]
        said = cluster.call("k8s", {"state": "present", "resource_definition": asked}, "ask for our permissions")
        facts["missing"] = missing(answers(said))
        try:
            facts["nodes"] = [outline(node) for node in cluster.read("Node", "v1") or []]
        except KubernetesError as error:
            self._only_forbidden(error)
        try:
            facts["crd"] = cluster.find("CustomResourceDefinition", "apiextensions.k8s.io/v1", CRD)
        except KubernetesError as error:
            self._only_forbidden(error)
            facts["crd_forbidden"] = True

        try:
            found = [cluster.read("Pod", "v1", labels=[label]) or [] for label in kubernetes.LABELS]
            facts["operators"] = [pods.outline(pod) for same in found for pod in same]
        except KubernetesError as error:
            self._only_forbidden(error)

    def _only_forbidden(self, error: KubernetesError) -> None:
        """Let a refusal pass, which is said among the permissions."""
        if error.trouble is None or error.trouble.kind != FORBIDDEN:
            raise error

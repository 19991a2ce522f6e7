# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The manifest of a job in whichever version the cluster serves, and what is decided by its values. Values in, values out."""

from typing import Any, Dict, Mapping

from ansible_collections.taco.train.plugins.module_utils.cluster import owner
from ansible_collections.taco.train.plugins.module_utils.cluster.names import GROUP, KIND, require_names
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError


class Definition:
    """A manifest, as the filter mpijob_manifest returns it."""

    def __init__(self, manifest: Mapping[str, Any], name: str) -> None:
        self.manifest = manifest
        try:
            self.spec: Mapping[str, Any] = manifest["spec"]
            self.policy = self.spec["runPolicy"]["cleanPodPolicy"]
            replicas = self.spec["mpiReplicaSpecs"]
            self.launcher: Mapping[str, Any] = replicas["Launcher"]["template"]["spec"]
            self.worker: Mapping[str, Any] = replicas["Worker"]["template"]["spec"]
            self.workers, self.slots = int(replicas["Worker"]["replicas"]), int(self.spec["slotsPerWorker"])
            self.limits: Mapping[str, Any] = self.worker["containers"][0]["resources"]["limits"]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise MpijobError(
                f"definition has no {error}: expected the manifest of an MPIJob, as the filter taco.train.mpijob_manifest returns it"
            ) from error
        require_names(name, self.workers)

    def in_version(self, version: str, name: str, namespace: str) -> Dict[str, Any]:
        """Return the manifest for a version and a namespace. In v1 one operator reads the policy in one place, one in the other."""
        spec = {key: value for key, value in self.spec.items() if key != "cleanPodPolicy"}
        if version == "v1":
            spec["cleanPodPolicy"] = self.policy
        metadata = {"name": name, "labels": dict(owner.LABELS), "namespace": namespace}
        return {"apiVersion": f"{GROUP}/{version}", "kind": KIND, "metadata": metadata, "spec": spec}

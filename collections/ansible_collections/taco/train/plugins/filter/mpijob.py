# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Filters of the Kubernetes path."""

from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.taco.train.plugins.module_utils.cluster.capacity import capacity
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import manifest, worker_limits
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError


def mpijob_manifest(options: dict[str, Any], api_version: str | None = None) -> dict[str, Any]:
    """Return the manifest of an MPIJob. A templated null can arrive as an empty string."""
    try:
        return manifest(job_of(options), api_version or "v1")
    except InvalidValueError as error:
        raise AnsibleFilterError(f"mpijob_manifest: {error}") from error


def mpijob_limits(options: dict[str, Any]) -> dict[str, Any]:
    """Return what each worker of a job asks of its node."""
    try:
        return worker_limits(job_of(options))
    except InvalidValueError as error:
        raise AnsibleFilterError(f"mpijob_limits: {error}") from error


def mpijob_capacity(nodes: list[dict[str, Any]], options: dict[str, Any]) -> dict[str, Any]:
    """Return whether nodes could hold the workers of a job."""
    try:
        job = job_of(options)
        return capacity(list(nodes), worker_limits(job), job.workers)._asdict()
    except InvalidValueError as error:
        raise AnsibleFilterError(f"mpijob_capacity: {error}") from error


class FilterModule:
    """Offer the filters to Ansible."""

    def filters(self) -> dict[str, Any]:
        return {
            "mpijob_manifest": mpijob_manifest,
            "mpijob_limits": mpijob_limits,
            "mpijob_capacity": mpijob_capacity,
        }

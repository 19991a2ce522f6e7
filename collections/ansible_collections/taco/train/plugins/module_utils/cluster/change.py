# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change an object only as it was read, and decide again where something else has changed it since."""

from typing import Any, Callable, Mapping, Optional, Tuple, TypeVar

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client, KubernetesError
from ansible_collections.taco.train.plugins.module_utils.cluster.clock import wait_seconds
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import CONFLICT

Resource = Mapping[str, Any]
Looked = TypeVar("Looked")


def settle(
    cluster: Client, look: Callable[[], Tuple[Looked, Optional[Resource]]], doing: Optional[str] = None
) -> Tuple[Looked, Optional[Resource]]:
    """Make the change that a look finds to be needed; return the last look, and the object as it was changed, None if it wasn't.

    Every report of a kubelet is a new version of its node. So a conflict is no error: one looks and decides again, a few times.
    """
    failures = 0
    while True:
        looked, patch = look()
        if patch is None:
            return looked, None
        failures += 1
        seconds = wait_seconds(failures, None, cluster.clock.chance())
        try:
            changed = cluster.change(patch, doing)
        except KubernetesError as error:
            if error.trouble is None or error.trouble.kind != CONFLICT or seconds is None:
                raise
        else:
            # Of an object that is gone nothing comes back: the next look says what that means.
            if changed or seconds is None:
                return looked, changed
        cluster.clock.sleep(seconds)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a ResourceQuota lets a namespace have."""

from fractions import Fraction

from kubelab import status
from kubelab.conditions import has_ended
from kubelab.quantities import amount, requests_of, written
from kubelab.resources import POD


def _wanted(resource, thing):
    """The usage of an object, by the name in a quota."""
    wanted = {f"count/{status.qualified(resource)}": Fraction(1)}
    if resource.key == POD.key:
        wanted["pods"] = Fraction(1)
        for name, value in requests_of(thing).items():
            wanted[f"requests.{name}"] = wanted[name] = value
    return wanted


def check(storage, resource, namespace, thing):
    """Refuse an object with which its namespace would have more than it may."""
    for quota in storage.quotas(namespace):
        hard = (quota.get("spec") or {}).get("hard") or {}
        wanted = {name: value for name, value in _wanted(resource, thing).items() if name in hard}
        if not wanted:
            continue
        others = [other for other in storage.list(resource, namespace) if not has_ended(other)]
        used = {name: sum((_wanted(resource, other).get(name, 0) for other in others), Fraction(0)) for name in wanted}
        over = sorted(name for name in wanted if used[name] + wanted[name] > amount(hard[name], name))
        if over:
            said = [",".join(f"{name}={written(name, values[name])}" for name in over) for values in (wanted, used)]
            limited = ",".join(f"{name}={hard[name]}" for name in over)
            raise status.quota_exceeded(
                resource, thing["metadata"].get("name", ""), quota["metadata"]["name"], *said, limited
            )

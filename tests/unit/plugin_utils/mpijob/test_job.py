# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is no MPIJob is refused with the option that is wrong."""

import pytest

from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of

FOUR = {"workers": 4, "gpus_per_worker": 8}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": None}, "workers is not set"),
        ({"gpus_per_worker": ""}, "gpus_per_worker is not set"),
        ({"workers": 0}, "workers is 0: expected 1 or more"),
        ({"workers": "four"}, "workers is 'four': expected a whole number"),
        ({"gpus_per_worker": 0}, "gpus_per_worker is 0"),
        ({"hugepages": 2.5}, "hugepages is 2.5"),
        ({"hugepages": -1}, "hugepages is -1: expected 0 or more"),
        ({"gpus": 8}, "gpus is 8: expected all or none; how many there are is gpus_per_worker"),
        ({"gpus": [0, 1]}, "Kubernetes chooses the devices"),
        ({"gpus": "none", "gpu_topology": True}, "there is nothing to place"),
        ({"ulimits": ["memlock=-1"]}, "an MPIJob has no ulimits"),
        ({"network_mode": "macvlan"}, "network_mode is 'macvlan'"),
        ({"memory": "lots"}, "memory is 'lots': expected an amount"),
        ({"memory": "32Gi"}, "shm_size is 32g and counts as a worker's memory, which is 32Gi"),
        ({"memory": 0}, "memory is 0: expected more than nothing"),
        ({"launcher_cpu": True}, "launcher_cpu is 'True'"),
        ({"command": "sleep infinity"}, "command is 'sleep infinity': expected a list"),
        ({"mounts": "/sys:/sys"}, "mounts is '/sys:/sys': expected a list"),
        ({"mounts": ["data:/data"]}, "source 'data' is no path"),
        ({"mounts": ["/sys/../etc:/data"]}, "is no path of a host"),
        ({"mounts": ["/a:/b:z"]}, "the option 'z'"),
        ({"mounts_extra": ["/run:/dev/shm/"]}, "target /dev/shm, which shm_size makes"),
        ({"environment": ["A=1"]}, "environment is .* expected a mapping"),
        ({"environment": {"A": None}}, "variable A has no value"),
        ({"environment": {"A B": 1}}, "'A B' can't be the name"),
        ({"clean_pod_policy": "running"}, "clean_pod_policy is 'running': expected one of Running, All, None"),
        ({"name": "Taco"}, "the name 'Taco' can't be an MPIJob's"),
        ({"name": "1taco"}, "a letter first"),
        ({"name": "taco-"}, "no dash last"),
        ({"name": "t" * 60}, "is 6 letters too long"),
        ({"namespace": "My.Space"}, "namespace 'My.Space'"),
        ({"namespace": "n" * 64}, "expected up to 63 small letters"),
        ({"worker": 4}, "an MPIJob has no worker; it has image"),
    ],
)
def test_what_is_no_mpijob_is_refused(options, words):
    with pytest.raises(MpijobError, match=words):
        job_of({**FOUR, **options})

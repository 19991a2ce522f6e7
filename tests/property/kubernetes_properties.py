# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What holds whatever a cluster answers, and for every job that is compared with what a cluster has."""

import copy
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Request
from ansible_collections.taco.train.plugins.module_utils.cluster.clock import MOST_ASKED_SECONDS, wait_seconds
from ansible_collections.taco.train.plugins.module_utils.cluster.diff import LOOSE, differences, patch, step
from ansible_collections.taco.train.plugins.module_utils.cluster.failures import answered
from ansible_collections.taco.train.plugins.module_utils.cluster.messages import sentence
from ansible_collections.taco.train.plugins.module_utils.cluster.names import VERSIONS
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.job import job_of
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.manifest import manifest

QUICK = settings(max_examples=40)
CODES = st.sampled_from([400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504])
MESSAGES = st.text(max_size=60) | st.sampled_from(
    [
        'pods is forbidden: User "u" cannot list resource "pods" in API group "" in the namespace "n"',
        'pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
        'it\'s "quoted" \\ and {broken',
    ]
)
OPTIONS = st.fixed_dictionaries(
    {"workers": st.integers(1, 4), "gpus_per_worker": st.integers(1, 8)},
    optional={
        "image": st.sampled_from(["a:1", "b:2"]),
        "memory": st.sampled_from(["100Gi", "200Gi"]),
        "hugepages": st.integers(0, 3),
        "environment": st.dictionaries(st.sampled_from(["A", "B"]), st.sampled_from(["1", "2"]), max_size=2),
        "mounts_extra": st.lists(st.sampled_from(["/a:/a", "/b:/b:ro", "/b:/c"]), unique=True, max_size=3),
        "privileged": st.booleans(),
        "network_mode": st.just("host"),
        "gpu_topology": st.booleans(),
        "clean_pod_policy": st.sampled_from(["Running", "All", "None"]),
        "shm_size": st.sampled_from(["0", "1g"]),
    },
)


def status(code, message):
    return json.dumps({"kind": "Status", "status": "Failure", "message": message, "code": code})


@QUICK
@given(CODES, MESSAGES | st.text(max_size=200), st.booleans())
def test_whatever_was_answered_becomes_one_line_with_the_code_of_the_answer(code, message, is_status):
    found = answered(code, status(code, message) if is_status else message, {})
    said = sentence("do it", found, Request("list", "Node"))
    assert found.code == code and said.startswith("can't do it: ") and "\n" not in said


@QUICK
@given(st.none() | st.floats(0, 1000), st.floats(0, 1))
def test_waiting_ends_and_never_takes_long(asked, chance):
    waits = [wait_seconds(failures, asked, chance) for failures in range(1, 50)]
    done = [seconds for seconds in waits if seconds is not None]
    assert waits[len(done)] is None
    assert sum(done) <= 60 + len(done) * MOST_ASKED_SECONDS * bool(asked)
    assert all(seconds >= (asked or 0) for seconds in done)


@QUICK
@given(OPTIONS, OPTIONS, st.sampled_from(sorted(VERSIONS)))
def test_two_jobs_differ_exactly_where_their_manifests_do(one, other, version):
    found, wanted = (manifest(job_of({**options, "namespace": "n"}), version) for options in (one, other))
    different = differences(found, wanted)
    assert bool(different) == (found["spec"] != wanted["spec"])
    assert differences(wanted, copy.deepcopy(wanted)) == []
    assert {(d.path, repr(d.wanted)) for d in differences(wanted, found)} == {
        (d.path, repr(d.found)) for d in different
    }


@QUICK
@given(OPTIONS, st.sampled_from(["Running", "All", "None"]), st.sampled_from(sorted(VERSIONS)))
def test_what_is_sent_takes_the_differences_away(options, policy, version):
    found = manifest(job_of({**options, "namespace": "n"}), version)
    wanted = manifest(job_of({**options, "namespace": "n", "clean_pod_policy": policy}), version)
    todo = step(found, wanted)
    assert not todo.replace
    sent = patch(wanted, todo.loose)
    assert set(sent["spec"]) <= set(LOOSE)
    assert differences({**found, "spec": {**found["spec"], **sent["spec"]}}, wanted) == []

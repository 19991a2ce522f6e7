# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API of the stand-in, by the real Python client."""

import json
import ssl
import urllib.error
import urllib.request

import kubernetes
import pytest
from kubelab.kubeconfig import content
from kubelab.testing import running_cluster
from kubernetes.client.exceptions import ApiException

NODES = [{"name": name, "allocatable": {"hugepages-1Gi": "50Gi", "nvidia.com/gpu": 8}} for name in ("node-1", "node-2")]
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"app": "x"}}}
POD["spec"] = {"containers": [{"name": "main", "image": "image:1"}]}


@pytest.fixture
def cluster():
    with running_cluster(NODES) as running:
        yield running


@pytest.fixture
def client(cluster):
    return kubernetes.config.new_client_from_config(cluster.admin_kubeconfig)


@pytest.fixture
def core(client):
    return kubernetes.client.CoreV1Api(client)


def refusal(call, *arguments, **options):
    with pytest.raises(ApiException) as caught:
        call(*arguments, **options)
    return caught.value.status, json.loads(caught.value.body)


def test_an_object_is_created_read_changed_and_deleted(core):
    made = core.create_namespaced_config_map("default", {"metadata": {"name": "a"}, "data": {"x": "1"}})
    assert made.metadata.uid and made.metadata.resource_version
    changed = core.patch_namespaced_config_map("a", "default", {"data": {"y": "2"}})
    assert changed.data == {"x": "1", "y": "2"}
    assert changed.metadata.resource_version != made.metadata.resource_version
    core.delete_namespaced_config_map("a", "default")
    code, body = refusal(core.read_namespaced_config_map, "a", "default")
    assert (code, body["reason"], body["message"]) == (404, "NotFound", 'configmaps "a" not found')
    assert body["details"] == {"name": "a", "kind": "configmaps"}


def test_an_object_is_replaced_only_from_the_version_that_was_read(core):
    first = core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
    core.patch_namespaced_config_map("a", "default", {"data": {"x": "1"}})
    code, body = refusal(core.replace_namespaced_config_map, "a", "default", first)
    assert (code, body["reason"]) == (409, "Conflict")
    assert "the object has been modified" in body["message"]


def test_a_name_is_taken_once(core):
    core.create_namespaced_pod("default", POD)
    code, body = refusal(core.create_namespaced_pod, "default", POD)
    assert (code, body["reason"], body["message"]) == (409, "AlreadyExists", 'pods "a" already exists')


def test_a_namespace_must_exist(core):
    assert refusal(core.create_namespaced_pod, "elsewhere", POD)[1]["message"] == 'namespaces "elsewhere" not found'


def test_lists_are_selected_by_labels(core):
    for name, labels in (("a", {"app": "x"}), ("b", {"app": "x", "tier": "one"}), ("c", {})):
        core.create_namespaced_config_map("default", {"metadata": {"name": name, "labels": labels}})
    for selector, names in {"app=x": ["a", "b"], "app==x,tier=one": ["b"], "app=y": [], "!app": ["c"]}.items():
        found = core.list_namespaced_config_map("default", label_selector=selector)
        assert [one.metadata.name for one in found.items] == names, selector


def test_lists_are_selected_by_fields(cluster, core):
    core.create_namespaced_pod("default", POD)
    assert cluster.wait(lambda: core.read_namespaced_pod("a", "default").spec.node_name) == "node-1"
    assert len(core.list_pod_for_all_namespaces(field_selector="spec.nodeName=node-1").items) == 1
    assert not core.list_pod_for_all_namespaces(field_selector="spec.nodeName!=node-1").items


def test_a_watch_tells_what_changes(cluster, core):
    version = core.list_namespaced_pod("default").metadata.resource_version
    core.create_namespaced_pod("default", POD)
    seen = []
    watch = kubernetes.watch.Watch()
    for event in watch.stream(core.list_namespaced_pod, "default", resource_version=version, timeout_seconds=10):
        seen.append((event["type"], event["object"].status.phase))
        if seen[-1][1] == "Running":
            watch.stop()
    assert seen[0] == ("ADDED", "Pending")
    assert seen[-1] == ("MODIFIED", "Running")


def test_what_is_owned_goes_with_its_owner(cluster, core):
    owner = core.create_namespaced_config_map("default", {"metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.metadata.uid}
    core.create_namespaced_secret("default", {"metadata": {"name": "owned", "ownerReferences": [reference]}})
    core.delete_namespaced_config_map("owner", "default")
    assert cluster.wait(lambda: cluster.get("Secret", "owned") is None)


def test_an_owner_deleted_in_the_foreground_stays_until_what_it_owns_is_gone(cluster, core):
    owner = core.create_namespaced_config_map("default", {"metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.metadata.uid}
    core.create_namespaced_pod("default", {**POD, "metadata": {"name": "a", "ownerReferences": [reference]}})
    answer = core.delete_namespaced_config_map("owner", "default", propagation_policy="Foreground")
    assert answer
    assert cluster.wait(lambda: cluster.get("ConfigMap", "owner") is None)
    assert cluster.get("Pod", "a") is None


def test_a_log_is_read_once_its_container_has_started(cluster, core):
    cluster.script("^a$", ["ImagePullBackOff"])
    core.create_namespaced_pod("default", POD)
    assert cluster.wait(lambda: core.read_namespaced_pod("a", "default").status.container_statuses)
    code, body = refusal(core.read_namespaced_pod_log, "a", "default")
    assert code == 400
    assert body["message"] == 'container "main" in pod "a" is waiting to start: ImagePullBackOff'
    cluster.script("^a$", ["Running"])
    cluster.log("a", "one\ntwo\nthree\n")
    assert cluster.wait(lambda: core.read_namespaced_pod("a", "default").status.phase == "Running")
    assert core.read_namespaced_pod_log("a", "default", tail_lines=2) == "two\nthree\n"


def test_a_quota_says_what_is_asked_for_and_what_is_left(cluster, core):
    cluster.quota("default", {"requests.nvidia.com/gpu": "8", "pods": "2"})
    limits = {"limits": {"nvidia.com/gpu": "6"}}
    core.create_namespaced_pod("default", {**POD, "spec": {"containers": [{"name": "main", "resources": limits}]}})
    second = {"metadata": {"name": "b"}, "spec": {"containers": [{"name": "main", "resources": limits}]}}
    code, body = refusal(core.create_namespaced_pod, "default", second)
    assert (code, body["reason"]) == (403, "Forbidden")
    assert body["message"] == (
        'pods "b" is forbidden: exceeded quota: quota, requested: requests.nvidia.com/gpu=6, used: requests.nvidia.com/gpu=6, '
        "limited: requests.nvidia.com/gpu=8"
    )


def test_a_token_is_needed(cluster):
    stranger = kubernetes.config.new_client_from_config_dict(content(cluster.url, cluster.authority.pem, "another"))
    assert refusal(kubernetes.client.CoreV1Api(stranger).list_namespaced_pod, "default")[0] == 401


def test_requests_fail_as_often_as_they_are_told_to(cluster, core):
    cluster.fail("POST", "/pods$", 503, times=2)
    for _time in range(2):
        found, body = refusal(core.create_namespaced_pod, "default", POD)
        assert (found, body["kind"], body["reason"], body["code"]) == (503, "Status", "ServiceUnavailable", 503)
    core.create_namespaced_pod("default", POD)
    assert [status for _method, _path, status in cluster.requests] == [503, 503, 201]


def test_who_asks_too_often_is_told_to_wait_and_the_client_does(cluster, core):
    cluster.fail("GET", "/pods$", 429)
    assert core.list_namespaced_pod("default").items == []
    assert [status for _method, _path, status in cluster.requests] == [429, 200]


def test_a_connection_is_cut_before_or_after_the_effect(cluster, core):
    core.api_client.rest_client.pool_manager.connection_pool_kw["retries"] = False
    for body, there in (("disconnect", False), ("disconnect-after", True)):
        cluster.fail("POST", "/configmaps", body=body)
        with pytest.raises(Exception, match="Connection aborted|RemoteDisconnected|Connection reset"):
            core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
        assert (cluster.get("ConfigMap", "a") is not None) == there


def test_custom_resources_know_no_strategic_patch(cluster):
    job = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "MPIJob",
        "metadata": {"name": "a"},
        "spec": {"mpiReplicaSpecs": {}},
    }
    cluster.put(job)
    request = urllib.request.Request(
        f"{cluster.url}/apis/kubeflow.org/v1/namespaces/default/mpijobs/a", b"{}", method="PATCH"
    )
    request.add_header("Authorization", f"Bearer {cluster.admin_token}")
    request.add_header("Content-Type", "application/strategic-merge-patch+json")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, context=ssl.create_default_context(cadata=cluster.authority.pem))
    assert (caught.value.code, json.load(caught.value)["reason"]) == (415, "UnsupportedMediaType")


def test_a_pod_that_is_there_keeps_its_spec(core):
    core.create_namespaced_pod("default", POD)
    change = {"spec": {"containers": [{"name": "main", "command": ["other"]}]}}
    code, body = refusal(core.patch_namespaced_pod, "a", "default", change)
    assert code == 422
    assert "pod updates may not change fields other than" in body["message"]
    core.patch_namespaced_pod("a", "default", {"spec": {"containers": [{"name": "main", "image": "image:2"}]}})


@pytest.mark.parametrize("versions", [("v1",), ("v2beta1", "v1"), ()])
def test_the_versions_of_mpijobs_are_discovered(versions):
    with running_cluster(serve=versions) as cluster:
        client = kubernetes.config.new_client_from_config(cluster.admin_kubeconfig)
        groups = {group.name: group for group in kubernetes.client.ApisApi(client).get_api_versions().groups}
        found = [one.version for one in groups["kubeflow.org"].versions] if versions else []
        assert found == sorted(versions, key=len)
        crds = cluster.objects("CustomResourceDefinition")
        names = [[one["name"] for one in crd["spec"]["versions"]] for crd in crds]
        assert names == ([list(versions)] if versions else [])

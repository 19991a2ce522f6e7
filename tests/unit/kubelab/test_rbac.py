# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Permissions on the API double: what no rule of the guides' manifest allows is denied."""

import json

import kubernetes
import pytest
from kubelab import rbac
from kubelab.client import ApiError, Client
from kubelab.testing import running_cluster
from kubernetes.client.exceptions import ApiException

from ansible_collections.taco.train.plugins.module_utils.cluster.cluster_facts import PERMISSIONS

EVERYBODY = {
    ("create", "authorization.k8s.io", name, "") for name in ("selfsubjectaccessreviews", "selfsubjectrulesreviews")
}


def questions(permissions):
    """Return permissions as (verb, API group, resource with its subresource, name of the only object)."""
    return {
        (one.verb, one.group, "/".join(filter(None, (one.resource, one.subresource))), one.name) for one in permissions
    }


def flat(rules):
    """Return rules as questions."""
    return {
        (verb, group, resource, name)
        for rule in rules
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames") or [""]
    }


@pytest.fixture
def cluster():
    with running_cluster([{"name": "node-1"}]) as running:
        yield running


@pytest.fixture
def client(cluster):
    return kubernetes.config.new_client_from_config(cluster.kubeconfig)


def refusal(call, *arguments, **options):
    with pytest.raises(ApiException) as caught:
        call(*arguments, **options)
    return caught.value.status, json.loads(caught.value.body)["message"]


def access(client, **attributes):
    body = {"spec": {"resourceAttributes": attributes}}
    return kubernetes.client.AuthorizationV1Api(client).create_self_subject_access_review(body).status.allowed


def test_preflight_asks_for_what_the_manifest_grants_and_for_nothing_else():
    objects = rbac.documents(["training"])
    everywhere = flat(rbac.rules(objects, "taco")) - EVERYBODY
    assert everywhere == questions(one for one in PERMISSIONS if one.whole_cluster)
    assert flat(rbac.rules(objects, "taco", "training")) - EVERYBODY == questions(PERMISSIONS)
    assert flat(rbac.rules(objects, "taco", "another")) - EVERYBODY == everywhere
    assert flat(rbac.rules(objects, "somebody", "training")) == EVERYBODY


def test_the_list_of_can_i_is_the_manifest(client):
    body = {"spec": {"namespace": "default"}}
    answer = kubernetes.client.AuthorizationV1Api(client).create_self_subject_rules_review(body)
    found = client.sanitize_for_serialization(answer.status)
    assert flat(found["resourceRules"]) == questions(PERMISSIONS) | EVERYBODY
    assert not found["incomplete"]


def test_the_account_has_what_preflight_asks_for(client):
    for permission in PERMISSIONS:
        asked = permission.attributes("default")
        assert access(client, **asked), permission
        assert access(client, **{**asked, "namespace": "another"}) == permission.whole_cluster, permission
        assert not access(client, **{**asked, "verb": "update"}), permission


def test_what_no_rule_allows_is_denied_and_named(cluster, client):
    core, custom = kubernetes.client.CoreV1Api(client), kubernetes.client.CustomObjectsApi(client)
    assert refusal(core.delete_namespaced_pod, "a", "default") == (
        403,
        'pods "a" is forbidden: User "taco" cannot delete resource "pods" in API group "" in the namespace "default"',
    )
    code, said = refusal(custom.list_cluster_custom_object, "kubeflow.org", "v1", "mpijobs")
    assert code == 403
    assert said == (
        'mpijobs.kubeflow.org is forbidden: User "taco" cannot list resource "mpijobs" in API group "kubeflow.org" at the '
        "cluster scope"
    )
    assert refusal(core.create_namespaced_config_map, "default", {})[0] == 403
    admin = kubernetes.config.new_client_from_config(cluster.admin_kubeconfig)
    assert kubernetes.client.CoreV1Api(admin).list_secret_for_all_namespaces().items == []


def test_a_rule_of_names_allows_no_other_object_and_no_list(client):
    definitions = kubernetes.client.ApiextensionsV1Api(client)
    assert definitions.read_custom_resource_definition("mpijobs.kubeflow.org").metadata.name
    assert refusal(definitions.read_custom_resource_definition, "others.kubeflow.org")[0] == 403
    assert refusal(definitions.list_custom_resource_definition)[0] == 403
    crds = {"verb": "get", "group": "apiextensions.k8s.io", "resource": "customresourcedefinitions"}
    assert not access(client, **crds)


def test_a_permission_that_a_test_takes_away_is_missed(cluster, client):
    create = {"verb": "create", "group": "kubeflow.org", "resource": "mpijobs", "namespace": "default"}
    assert access(client, **create)
    cluster.forbid("create", "mpijobs")
    custom = kubernetes.client.CustomObjectsApi(client)
    code, said = refusal(custom.create_namespaced_custom_object, "kubeflow.org", "v1", "default", "mpijobs", {})
    assert (code, access(client, **create)) == (403, False)
    assert 'User "taco" cannot create resource "mpijobs" in API group "kubeflow.org" in the namespace "default"' in said
    cluster.allow()
    assert access(client, **create)


def test_a_command_over_a_websocket_needs_two_permissions(cluster):
    ask, path = Client(cluster.kubeconfig), "/api/v1/namespaces/default/pods/a/exec"
    for method, verb in (("GET", "get"), ("GET", "create"), ("POST", "create")):
        cluster.forbid(verb, "pods/exec")
        with pytest.raises(ApiError, match=f'cannot {verb} resource "pods/exec"'):
            ask(method, path, command="true")
        cluster.allow()
    with pytest.raises(ApiError, match='pods "a" not found'):
        ask("GET", path, command="true")


def test_only_the_administrator_tells_the_double_what_to_do(cluster):
    with pytest.raises(ApiError) as caught:
        Client(cluster.kubeconfig)("POST", "/kubelab/allow", {})
    assert caught.value.code == 404
    assert Client(cluster.admin_kubeconfig)("POST", "/kubelab/allow", {}) == {}

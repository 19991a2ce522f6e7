#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: kubernetes_info
short_description: Gather facts about a Kubernetes cluster, or wait until objects of it change
version_added: 1.0.0
description:
  - Reads the nodes and the CRD of MPIJobs, and checks every permission that the collection needs, from preflight to rollback. Changes
    nothing.
  - An unreachable API server is not a failure of this module. The result has the error, which M(taco.train.preflight) reports with all
    other failures.
  - With O(watched) it does nothing but wait for a change. It lists the objects that each element of O(watched) selects. It returns at once
    when they are not those of RV(ignore:versions), and otherwise watches them from the C(resourceVersion) of the list on and returns at
    the first change. One list and one watch for each element are all the requests that it makes, however long it waits.
  - If the server ends a watch early, for example with C(410 Gone), the module returns, so that the caller can list the objects again.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
  - ansible.builtin.action_common_attributes.flow
  - taco.train.attributes.controller
  - taco.train.kubernetes
  - taco.train.kubernetes.connection
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
options:
  namespace:
    type: str
    default: default
    description: The namespace of the training.
  watched:
    version_added: 1.1.0
    description: The objects to wait for.
    type: list
    elements: dict
    default: []
    suboptions:
      kind:
        description: Kind of the objects.
        type: str
        required: true
      api_version:
        description: API group and version.
        type: str
        default: v1
      namespace:
        description: Namespace of the objects. Not set means all.
        type: str
      name:
        description: Name of the only object.
        type: str
      label_selector:
        description: Selector by labels.
        type: str
      versions:
        description: The C(resourceVersion) of each object that the caller knows, by its C(uid).
        type: dict
        default: {}
  seconds:
    version_added: 1.1.0
    description: Seconds to wait for a change, from 1 to 3600. With O(watched).
    type: int
    default: 20
seealso:
  - module: taco.train.preflight
"""

EXAMPLES = r"""
- name: Gather the state of the Kubernetes cluster
  taco.train.kubernetes_info:
    namespace: training
  delegate_to: localhost
  run_once: true
  register: cluster

- name: Wait until a node changes
  taco.train.kubernetes_info:
    watched:
      - kind: Node
        name: gpu-1
        versions: {9c2f5f3e-0000-4000-8000-000000000001: "812345"}
    seconds: 60
"""

RETURN = r"""
kubernetes:
  description: The facts of the cluster.
  returned: without O(watched)
  type: dict
  contains:
    error:
      description: Why the API server cannot be reached, with a fix, or V(null).
      type: str
    missing:
      description: The missing permissions.
      type: list
      elements: str
      sample: [patch nodes]
    nodes:
      description: The nodes without long fields, or V(null) without the permission to list them.
      type: list
      elements: dict
    crd:
      description: The CRD of MPIJobs, or V(null).
      type: dict
    operators:
      description: The pods of the MPI Operator, or V(null) without the permission to list pods.
      type: list
      elements: dict
      contains:
        name:
          description: The namespace and the name, with C(/) between them.
          type: str
        ready:
          description: Whether the pod is Ready.
          type: bool
        why:
          description: Why it is not Ready.
          type: str
    crd_forbidden:
      description: Whether the permission to read the CRD is missing.
      type: bool
differs:
  description: Whether the objects differ from those of the caller. False if nothing changed within the time.
  returned: with O(watched)
  type: bool
"""

import queue
import threading

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

GONE = 410
# A list that isn't answered in this time is not answered at all.
LIST_SECONDS = 30
MOST_SECONDS = 3600
# A connection that was lost without a word is not waited for any longer than this beyond the time of the watch.
GRACE_SECONDS = 5
WATCHED = {
    "kind": {"type": "str", "required": True},
    "api_version": {"type": "str", "default": "v1"},
    "namespace": {"type": "str"},
    "name": {"type": "str"},
    "label_selector": {"type": "str"},
    "versions": {"type": "dict", "default": {}},
}
ARGUMENTS = {
    "namespace": {"type": "str", "default": "default"},
    "watched": {"type": "list", "elements": "dict", "default": [], "options": WATCHED},
    "seconds": {"type": "int", "default": 20},
    "kubeconfig": {"type": "raw"},
    "context": {"type": "str"},
    "access": {"type": "dict", "default": {}},
}


def selection(watched):
    """Return the parameters of the requests that list and watch the objects."""
    fields = "metadata.name=%s" % watched["name"] if watched["name"] else None
    wanted = {"namespace": watched["namespace"], "label_selector": watched["label_selector"], "field_selector": fields}
    return {name: value for name, value in wanted.items() if value}


def versions(listed):
    """Return the resourceVersion of each object of a list by its uid."""
    metadata = [item["metadata"] for item in listed.get("items") or []]
    return {one["uid"]: one["resourceVersion"] for one in metadata}


def follow(client, resource, watched, version, seconds, ended):
    """Put into a queue how a watch ended: True for a change, False when the time was over, or the error."""
    from kubernetes.client import ApiException

    try:
        for _event in client.watch(resource, resource_version=version, timeout=seconds, **selection(watched)):
            ended.put(True)
            return
        ended.put(False)
    except Exception as error:
        if not isinstance(error, ApiException):
            # Not an answer of the server: the watch was lost.
            ended.put(False)
        else:
            # What is watched from is no longer kept, so there were changes.
            ended.put(True if error.status == GONE else error)


def wait(client, watched, seconds):
    """Return whether the objects differ from the known ones, at the first change or when the time is over."""
    follows = []
    for one in watched:
        resource = client.resource(one["kind"], one["api_version"])
        listed = client.client.get(resource, _request_timeout=LIST_SECONDS, **selection(one)).to_dict()
        if versions(listed) != one["versions"]:
            return True
        follows.append((resource, one, listed["metadata"]["resourceVersion"]))
    ended = queue.Queue()
    for resource, one, version in follows:
        arguments = (client.client, resource, one, version, seconds, ended)
        # A daemon: the module doesn't wait for the watches that are still open when it ends.
        threading.Thread(target=follow, args=arguments, daemon=True).start()
    try:
        found = ended.get(timeout=seconds + GRACE_SECONDS)
    except queue.Empty:
        return False
    if isinstance(found, Exception):
        raise found
    return found


def main():
    # The action reads the arguments above, and the client takes a second to be imported.
    try:
        from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC
        from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client

        missing = ""
    except ImportError as error:
        AUTH_ARG_SPEC, missing = {}, str(error)
    # The other ways to reach the API server are options of the action, which gives all of them here.
    access = dict(ARGUMENTS["access"], options=AUTH_ARG_SPEC)
    module = AnsibleModule(argument_spec=dict(ARGUMENTS, access=access), supports_check_mode=True)
    if missing:
        module.fail_json(
            msg="%s: %s" % (missing_required_lib("kubernetes and the collection kubernetes.core"), missing)
        )
    if not module.params["watched"]:
        module.fail_json(msg="watched is empty: it must have at least one element")
    if not 1 <= module.params["seconds"] <= MOST_SECONDS:
        module.fail_json(msg="seconds is %s: it must be from 1 to %s" % (module.params["seconds"], MOST_SECONDS))
    try:
        differs = wait(get_api_client(**module.params["access"]), module.params["watched"], module.params["seconds"])
    except Exception as error:
        # The caller reads the server's answer from the words of the error, as from those of kubernetes.core.
        module.fail_json(msg="%s: %s" % (type(error).__name__, error))
    module.exit_json(changed=False, differs=differs)


if __name__ == "__main__":
    main()

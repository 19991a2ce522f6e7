#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: kubernetes_watch
short_description: Wait until objects of a cluster change
version_added: 1.0.0
description:
  - Lists the objects that each element of O(watched) selects. Returns at once when they are not those of RV(ignore:versions), and
    otherwise watches them from the C(resourceVersion) of the list on and returns at the first change.
  - One list and one watch for each element of O(watched) are all the requests that it makes, however long it waits.
  - If the server ends a watch early, for example with C(410 Gone), the module returns, so that the caller can list the objects again.
  - Changes nothing.
requirements:
  - The collection kubernetes.core on the controller
  - kubernetes in the Python of the task's host
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  platform:
    platforms: posix
options:
  watched:
    description: The objects to wait for.
    type: list
    elements: dict
    required: true
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
    description: Seconds to wait for a change, from 1 to 3600.
    type: int
    default: 20
  access:
    description: The options by which the modules of C(kubernetes.core) reach the API server, such as C(kubeconfig) and C(host).
    type: dict
    default: {}
seealso:
  - module: kubernetes.core.k8s_info
"""

EXAMPLES = r"""
- name: Wait until a node changes
  taco.train.kubernetes_watch:
    watched:
      - kind: Node
        name: gpu-1
        versions: {9c2f5f3e-0000-4000-8000-000000000001: "812345"}
    seconds: 60
"""

RETURN = r"""
differs:
  description: Whether the objects differ from those of the caller. False if nothing changed within the time.
  returned: success
  type: bool
"""

import queue
import threading

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

try:
    from kubernetes.client import ApiException

    from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC
    from ansible_collections.kubernetes.core.plugins.module_utils.k8s.client import get_api_client
except ImportError as import_error:
    AUTH_ARG_SPEC, ApiException, MISSING = {}, (), str(import_error)
else:
    MISSING = ""

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
    module = AnsibleModule(
        argument_spec={
            "watched": {"type": "list", "elements": "dict", "required": True, "options": WATCHED},
            "seconds": {"type": "int", "default": 20},
            "access": {"type": "dict", "default": {}, "options": AUTH_ARG_SPEC},
        },
        supports_check_mode=True,
    )
    if MISSING:
        module.fail_json(
            msg="%s: %s" % (missing_required_lib("kubernetes and the collection kubernetes.core"), MISSING)
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

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check that a play has hosts before it starts."""

DOCUMENTATION = r"""
name: hosts
short_description: The host pattern of a play, or an error when no host matches
version_added: 1.0.0
author:
  - Taco Team (@taco)
description:
  - Returns a host pattern for the keyword C(hosts) of a play. Ansible skips a play that no host matches and reports success. This
    lookup fails instead, and names the pattern and the groups of the inventory.
  - A limit (C(--limit)) that leaves no host of the pattern is an error too.
  - With the extra variable C(taco_plan), options that skip tasks (C(--tags), C(--skip-tags), C(--start-at-task), C(--step)) are an error,
    because a plan is applied as a whole.
  - C(--syntax-check) and the options that only list hosts, tasks or tags are not checked.
options:
  _terms:
    description:
      - One pattern, or a list of patterns.
      - The playbooks pass the variable C(taco_hosts), which errors name.
    required: true
    type: list
    elements: raw
"""

EXAMPLES = r"""
- name: Prepare the hosts
  hosts: "{{ query('taco.train.hosts', taco_hosts | default('gpu_nodes')) }}"
  roles:
    - role: taco.train.hugepages
"""

RETURN = r"""
_raw:
  description: The patterns as they were passed.
  type: list
  elements: str
"""

from ansible import context
from ansible.errors import AnsibleLookupError
from ansible.inventory.manager import InventoryManager
from ansible.plugins.lookup import LookupBase

from ansible_collections.taco.train.plugins.plugin_utils.plan.skipped_tasks import not_whole
from ansible_collections.taco.train.plugins.plugin_utils.preflight.no_hosts import no_host

# They start no play. `ansible-playbook --syntax-check` is run without an inventory.
ONLY_LISTED = ("syntax", "listhosts", "listtasks", "listtags")


def patterns(terms):
    """The patterns in a term of the lookup, as a flat list."""
    if isinstance(terms, (list, tuple)):
        return [pattern for term in terms for pattern in patterns(term)]
    return [str(terms)] if terms and str(terms).strip() else []


class LookupModule(LookupBase):
    """The shell around the error: reads the inventory and the limit."""

    def run(self, terms, variables=None, **kwargs):
        wanted = patterns(terms)
        if any(context.CLIARGS.get(option) for option in ONLY_LISTED):
            return wanted
        # Here nothing of the command line skips it.
        refusal = not_whole(variables["taco_plan"], context.CLIARGS) if variables.get("taco_plan") is not None else ""
        if refusal:
            raise AnsibleLookupError(f"{refusal}. No host was changed.")
        groups = variables["groups"]
        manager = InventoryManager(self._loader, parse=False)
        for group, hosts in groups.items():
            manager.add_group(group)
            for host in hosts:
                manager.add_host(host, group=group)
        limit = variables.get("ansible_limit")
        matched = [host.name for host in manager.get_hosts(pattern=list(wanted))] if wanted else []
        left = matched
        if matched and limit:
            manager.subset(limit)
            left = [host.name for host in manager.get_hosts(pattern=list(wanted))]
        if not left:
            raise AnsibleLookupError(no_host(",".join(wanted), groups, matched, limit))
        return wanted

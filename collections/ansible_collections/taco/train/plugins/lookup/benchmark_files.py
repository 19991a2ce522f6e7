# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find the scripts of runs, and name what the runs need in their workers."""

DOCUMENTATION = r"""
name: benchmark_files
short_description: Sources of benchmark scripts, and requirements of the runs in their workers
version_added: 1.0.0
author:
  - Taco Team (@taco)
description:
  - For each script that is a URL or a file on the controller, returns the file, its checksum, and its path on the workers.
  - A script that is a relative path, or an absolute path that exists on the controller, is a file on the controller. It is searched like
    the sources of P(ansible.builtin.copy#module), in the folder of the playbook or in C(files) beside it. Any other absolute path is a
    path in the training image, which needs no copy.
  - Used by the role P(taco.train.benchmark#role).
options:
  _terms:
    description: The options of the runs, each a mapping of options of P(taco.train.benchmark#module).
    required: true
    type: list
    elements: dict
  state_dir:
    description: Folder on the workers for the state that outlives a run.
    type: str
    required: true
  downloads:
    description: Folder on the controller for scripts that are downloaded.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Show the scripts to copy
  ansible.builtin.debug:
    msg: "{{ query('taco.train.benchmark_files', {'script': 'train.py'}, state_dir='/var/lib/taco-train', downloads='/tmp') }}"
"""

RETURN = r"""
_list:
  description: One mapping for all runs.
  type: list
  elements: dict
  contains:
    scripts:
      description:
        - The scripts to deliver, each with C(script) and C(checksum) as they were given, and C(kind), V(url) or V(controller).
        - C(source) is where it comes from, C(file) its path on the controller, and C(present) whether that exists.
        - C(sha256) is null when it is not known yet, and C(verified) is whether a checksum is required.
        - C(folder) and C(path) are on the workers.
      type: list
      elements: dict
    needs:
      description: The files, folders and programs that the runs need in their workers.
      type: list
      elements: str
"""

import hashlib
import os

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ansible_collections.taco.train.plugins.plugin_utils.run.needs import needs, script_wanted
from ansible_collections.taco.train.plugins.plugin_utils.run.options import checked
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import OPTIONS
from ansible_collections.taco.train.plugins.plugin_utils.run.store import absolute
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.script import delivered, delivery, is_url, source_of


def sha256_of(path):
    """The SHA-256 of a file, None without one."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class LookupModule(LookupBase):
    """The shell around the decision: finds and reads files on the controller."""

    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        try:
            return [
                self._files(
                    [checked({key: term[key] for key in OPTIONS if key in term}, OPTIONS) for term in terms], variables
                )
            ]
        except InvalidValueError as error:
            raise AnsibleLookupError(str(error)) from error

    def _files(self, runs, variables):
        wanted = dict.fromkeys(one for one in map(script_wanted, runs) if one)
        scripts = [one for one in (self._script(*pair, variables) for pair in wanted) if one]
        paths = {}
        for run in runs:
            one = delivered(run, scripts) if script_wanted(run) else None
            paths.update(dict.fromkeys(needs(dict(run, script=one["path"]) if one else run).values()))
        return {"scripts": scripts, "needs": list(paths)}

    def _script(self, script, checksum, variables):
        found = None if is_url(script) else self._find(script, variables)
        source = source_of(script, checksum, found, absolute(self.get_option("downloads")))
        if source is None:
            return None
        return delivery(script, checksum, source, sha256_of(source.file), self.get_option("state_dir"))

    def _find(self, script, variables):
        found = self.find_file_in_search_path(variables, "files", script, ignore_missing=True)
        return found if found and os.path.isfile(found) else None

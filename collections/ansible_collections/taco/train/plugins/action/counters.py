# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the counters of a host there, and add what they show about runs to the records on the controller."""

from ansible.plugins.action import ActionBase

from ansible_collections.taco.train.plugins.modules.counters import ARGUMENTS, REQUIRED_IF
from ansible_collections.taco.train.plugins.plugin_utils.run import record_file, store
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.path import CONTRADICTED, problem
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.record import at_the_same_time, with_witnesses


class ActionModule(ActionBase):
    """Leave the host to the module; read, decide, write on the controller."""

    _supports_check_mode = True

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        if self._task.args.get("state") != "compared":
            return {**result, **self._execute_module(task_vars=task_vars)}
        _validated, options = self.validate_argument_spec(argument_spec=ARGUMENTS, required_if=REQUIRED_IF)
        return self.compared(options)

    def compared(self, options):
        """Add the differences to the records, and return which path the runs took."""
        run_dir = store.absolute(options["run_dir"])
        before, after = options["before"], options["after"]
        counters = {host: {"before": before[host], "after": after.get(host)} for host in before}
        try:
            kept = store.read(run_dir)[0]
            records = [one for one in kept if one["id"] in options["records"] and "witnesses" not in one]
            if not records:
                return {"changed": False, "path": None, "arms": []}
            groups = [with_witnesses(group, counters) for group in at_the_same_time(records)]
            if not self._task.check_mode:
                record_file.replace(run_dir, [record for changed, _path in groups for record in changed])
        except store.RecordError as error:
            return {"failed": True, "msg": str(error)}
        paths = [path for _changed, path in groups]
        path = next((one for one in paths if one.verdict == CONTRADICTED), paths[0])
        result = {"changed": False, "path": path.verdict, "run_dir": options["run_dir"], "arms": [records[0]["arm"]]}
        if path.verdict == CONTRADICTED:
            result.update(failed=options["fail_on_bad_run"], msg=problem(path, records[0]["arm"]))
        return result

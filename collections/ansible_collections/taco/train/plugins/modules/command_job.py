#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: command_job
short_description: Run a command under a time limit and keep its log
version_added: 1.0.0
description:
  - Runs one command, given as an argument list, in its own session, and writes its output to a file while it runs.
  - After the time limit, on a signal to the module, or if the controller is gone, the command and all processes of its session are ended.
    The process group of the command gets SIGTERM, and the remaining processes of the session get SIGKILL after O(grace) seconds.
  - An exit status other than 0 or a timeout is not a failure of this module. The result has both.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
    details: Runs nothing.
  diff_mode:
    support: none
  platform:
    platforms: linux
options:
  argv:
    description: The command and its arguments. No shell is involved.
    type: list
    elements: str
    required: true
  timeout:
    description: Time limit of the command in seconds.
    type: int
    required: true
  grace:
    description: Seconds between SIGTERM and SIGKILL.
    type: int
    default: 10
  end_argv:
    description:
      - A command that ends processes that signals do not reach, such as in a container. It runs before the first signal.
    type: list
    elements: str
    default: []
  chdir:
    description: The folder to run the command in.
    type: path
  environment:
    description: Variables to set in addition to the module's own environment.
    type: dict
    default: {}
  log_path:
    description:
      - The file for the output on the target. An existing file is replaced.
      - Missing parent folders are created, accessible only to the user of the task.
    type: path
    required: true
  max_output_bytes:
    description:
      - The size of the returned output. Of longer output the lines that NCCL prints of its channels are omitted first, then the middle
        without its errors and warnings.
    type: int
    default: 1048576
"""

EXAMPLES = r"""
- name: Run for at most a minute
  taco.train.command_job:
    argv: [ping, -c, "100", gpu2]
    timeout: 60
    log_path: /var/lib/taco-train/logs/ping.log
"""

RETURN = r"""
argv:
  description: The command.
  returned: always
  type: list
  elements: str
log_path:
  description: The file with the complete output.
  returned: always
  type: str
rc:
  description: The exit status of the command, or the negated number of the signal that ended it.
  returned: when the command was run
  type: int
timed_out:
  description: Whether the time limit ended the command.
  returned: when the command was run
  type: bool
stdout:
  description: The output of the command, stdout and stderr.
  returned: when the command was run
  type: str
started:
  description: When the command was started, in UTC.
  returned: when the command was run
  type: str
  sample: "2026-01-31T12:00:00.000000Z"
ended:
  description: When the command and everything it started had ended, in UTC.
  returned: when the command was run
  type: str
  sample: "2026-01-31T12:01:00.000000Z"
duration:
  description: Seconds between the two.
  returned: when the command was run
  type: float
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.taco.train.plugins.module_utils._process.shortened import read_shortened
from ansible_collections.taco.train.plugins.module_utils._process.supervised import JobError, Stopped, run


def problem(params):
    """Return what is wrong with the options, or None."""
    if not params["argv"] or not params["argv"][0]:
        return "argv is empty: it must hold a command."
    for name, least in (("timeout", 1), ("grace", 0), ("max_output_bytes", 2)):
        if params[name] < least:
            return f"{name} is {params[name]}; it must be {least} or more."
    return None


def open_log(path):
    """Return the log, open for writing. A benchmark's log can hold what its environment holds: nobody else reads it."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def main():
    module = AnsibleModule(
        argument_spec={
            "argv": {"type": "list", "elements": "str", "required": True},
            "timeout": {"type": "int", "required": True},
            "grace": {"type": "int", "default": 10},
            "end_argv": {"type": "list", "elements": "str", "default": []},
            "chdir": {"type": "path"},
            "environment": {"type": "dict", "default": {}},
            "log_path": {"type": "path", "required": True},
            "max_output_bytes": {"type": "int", "default": 1048576},
        },
        supports_check_mode=True,
    )
    params = module.params
    argv, log_path = params["argv"], params["log_path"]
    wrong = problem(params)
    if wrong:
        module.fail_json(msg=wrong, argv=argv, log_path=log_path)
    if module.check_mode:
        module.exit_json(changed=True, argv=argv, log_path=log_path)
    environment = {str(name): str(value) for name, value in params["environment"].items()}
    try:
        with open_log(log_path) as log:
            finished = run(
                argv, params["timeout"], params["grace"], log, params["chdir"], environment, params["end_argv"]
            )
        stdout = read_shortened(log_path, params["max_output_bytes"])
    except OSError as error:
        module.fail_json(msg=f"{log_path}: {error.strerror or error}", argv=argv, log_path=log_path)
    except JobError as error:
        module.fail_json(msg=str(error), argv=argv, log_path=log_path)
    except Stopped as error:
        message = f"The command was ended because the module was, by {error}. Its log is {log_path}."
        module.fail_json(msg=message, argv=argv, log_path=log_path)
    module.exit_json(changed=True, argv=argv, log_path=log_path, stdout=stdout, **finished._asdict())


if __name__ == "__main__":
    main()

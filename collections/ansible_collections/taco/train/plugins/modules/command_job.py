#!/usr/bin/python
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: command_job
short_description: Run a command under a time limit and keep its log
version_added: 1.0.0
description:
  - Runs one command, given as an argument list, in a session of its own, and writes what it prints to a file as it
    comes.
  - When the time is up, when the module itself is told to end, or when the controller is gone, the command and every process
    it started in its session are ended. The command's process group gets SIGTERM, and what is still there of the session after
    O(grace) seconds gets SIGKILL.
  - An exit status other than 0 is not a failure of this module, nor is a command that ran out of time. Both are in the
    result for the caller to judge.
author:
  - Taco Team (@taco)
extends_documentation_fragment:
  - ansible.builtin.action_common_attributes
attributes:
  check_mode:
    support: full
    details: Nothing is run.
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
    description: Seconds after which the command is ended.
    type: int
    required: true
  grace:
    description: Seconds between SIGTERM and SIGKILL.
    type: int
    default: 10
  end_argv:
    description:
      - A command that ends what the command has started where signals don't reach, such as in a container. It is run before the
        first signal.
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
      - The file for what the command prints, on the target. It is replaced if it exists, and kept.
      - Missing folders above it are made, for the user of the task only.
    type: path
    required: true
  max_output_bytes:
    description: How much of the output to return. Of longer output the middle is left out.
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
  description: What was run.
  returned: always
  type: list
  elements: str
log_path:
  description: The file with everything that the command printed.
  returned: always
  type: str
rc:
  description: The command's exit status. That of a command ended by a signal is the signal's number, negated.
  returned: when the command was run
  type: int
timed_out:
  description: Whether the command was ended because its time was up.
  returned: when the command was run
  type: bool
stdout:
  description: What the command printed on both of its streams.
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

from ansible_collections.taco.train.plugins.module_utils._process.supervised import (
    JobError,
    Stopped,
    read_shortened,
    run,
)


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

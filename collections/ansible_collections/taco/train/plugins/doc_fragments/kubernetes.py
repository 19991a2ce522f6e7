# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What modules that ask the API server of a Kubernetes cluster have in common."""


class ModuleDocFragment:
    # What it takes to ask it through kubernetes.core.
    DOCUMENTATION = r"""
requirements:
  - The collection kubernetes.core on the controller
  - kubernetes in the Python of the task's host
attributes:
  become:
    description: Is usable alongside C(become), which the API server doesn't ask for.
    support: full
  platform:
    platforms: posix
"""

    # The options that say how it is reached.
    CONNECTION = r"""
options:
  kubeconfig:
    type: raw
    description: Path of the kubeconfig on the task's host, or its content. Not set means the client's default.
  context:
    type: str
    description: The context of the kubeconfig. Not set means the current one.
  access:
    type: dict
    default: {}
    description: Other connection options of the modules of C(kubernetes.core), such as C(host) and C(api_key).
  progress_file:
    type: path
    description:
      - A file on the task's host that gets at once each line that the result has in C(progress).
      - Not set means a temporary one whose lines Ansible shows while the task runs, if the task's host is the controller.
"""

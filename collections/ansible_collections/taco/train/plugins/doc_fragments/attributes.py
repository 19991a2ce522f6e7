# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the attributes of modules have in common. Their words are ansible-core's, whose fragments a module names too."""


class ModuleDocFragment:
    # Modules that are nothing but an action plugin, which runs on the controller.
    CONTROLLER = r"""
attributes:
  action:
    support: full
  async:
    support: none
  bypass_host_loop:
    support: none
  platform:
    platforms: posix
"""

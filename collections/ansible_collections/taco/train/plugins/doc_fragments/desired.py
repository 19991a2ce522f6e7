# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The option of modules whose other options a role passes as one value."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  desired:
    description:
      - Options of this module in one dictionary. They have precedence over other options of the task and over C(module_defaults).
      - The role of the same purpose passes its variable, such as C(hugepages_desired). M(taco.train.converged) reads the same variable.
    type: dict
"""

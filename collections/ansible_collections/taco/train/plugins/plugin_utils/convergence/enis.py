# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judge the ENIs of a host that was observed, for actions in the place of the module eni_check."""

from typing import Any, Mapping

from ansible_collections.taco.train.plugins.module_utils._node.enis import EniError, Nic, checked_enis


def judged(options: Mapping[str, Any]) -> tuple[list[Nic], list[str]]:
    """Return the ENIs and what is wrong with them or with the options, which are the module's, nics among them."""
    try:
        return checked_enis(options["nics"], options["expected"], options["pattern"], options["subnet"])
    except EniError as error:
        return [], [str(error)]

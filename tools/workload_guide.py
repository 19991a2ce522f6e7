# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write the guide to workloads from their declarations: python tools/workload_guide.py."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.lightcc import SETTINGS
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

GUIDE = ROOT / "collections/ansible_collections/taco/train/docs/docsite/rst/workloads.rst"
HEAD = """..
  Copyright (c) 2026 The taco.train authors
  GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
  SPDX-License-Identifier: GPL-3.0-or-later

.. _ansible_collections.taco.train.docsite.workloads:

Workloads and their options
===========================

``benchmark_workload`` is the name of a workload, ``benchmark_options`` a mapping of its options. An item of ``compare_workloads`` can have
the same options, and ``workload``.
"""


def default_of(option):
    """The default of an option as a cell of a table."""
    if option.default in (None, "", [], {}):
        return "not set"
    text = option.default if isinstance(option.default, str) else json.dumps(option.default)
    return f"``{text}``"


def row(name, option):
    values = " One of " + ", ".join(f"``{choice}``" for choice in option.choices) + "." if option.choices else ""
    kind = "list of texts" if option.type == "list" else option.type
    return f"   * - ``{name}``\n     - {kind}\n     - {default_of(option)}\n     - {option.description}{values}\n"


def section(name, kind):
    unit = f"{kind.unit} or the unit that the option ``unit`` sets" if "unit" in kind.options else kind.unit
    lines = [
        f"\n{name}\n{'-' * len(name)}\n",
        f"{kind.summary[:1].upper()}{kind.summary[1:]}. The value of a run is {kind.value}, in {unit}.\n",
        ".. list-table::\n   :header-rows: 1\n\n   * - Option\n     - Type\n     - Default\n     - Meaning",
    ]
    return "\n".join(lines) + "\n" + "".join(row(*option) for option in kind.options.items())


LIGHTCC = """
Options of LightCC
------------------

``benchmark_lightcc`` is a mapping of these options. They have precedence over those of the arm; an arm without LightCC ignores them.
Top-k compresses gradients with loss.

.. list-table::
   :header-rows: 1

   * - Option
     - Default
     - Meaning
"""


def lightcc_row(setting):
    default = f"``{json.dumps(setting.default)}`` {setting.unit}".strip()
    return f"   * - ``{setting.option}``\n     - {default}\n     - {setting.description}\n"


def guide():
    """The text of the guide."""
    workloads = "".join(section(name, kind) for name, kind in WORKLOADS.items())
    return HEAD + workloads + LIGHTCC + "".join(lightcc_row(setting) for setting in SETTINGS.values())


if __name__ == "__main__":
    GUIDE.write_text(guide())

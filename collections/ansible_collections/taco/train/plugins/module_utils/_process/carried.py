# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Carry modules of this collection to a Python that doesn't have them, such as the one of a training container."""

import inspect
import json
from typing import Any, List

# It registers each module under its own name, so that their imports of each other hold, and prints one line of JSON.
_START = """
import json, sys, types
if sys.version_info < (3, 6):
    sys.exit("Python %d.%d is too old: set python to 3.6 or newer" % sys.version_info[:2])
sys.path[:] = [folder for folder in sys.path if folder]
carried = json.loads({carried!r})
for name, text in carried["modules"]:
    sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), sys.modules[name].__dict__)
print("\\n" + json.dumps(sys.modules[name].main(carried["argument"])))
"""


class ProgramError(Exception):
    """The program gave no answer."""


def program(modules: List[Any], argument: Any) -> str:
    """Return the text of a program that calls main(argument) of the last module, each after those it imports.

    The modules may import each other and the standard library, and the argument and the answer are JSON values.
    """
    sources = [[module.__name__, inspect.getsource(module)] for module in modules]
    return _START.format(carried=json.dumps({"modules": sources, "argument": argument}))


def answer(output: str) -> Any:
    """Return what the program answered; what else the worker's Python printed comes before it."""
    lines = output.splitlines()
    try:
        return json.loads(lines[-1] if lines else "")
    except ValueError as error:
        raise ProgramError("it printed no answer") from error

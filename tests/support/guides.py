# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The blocks of code in the guides and READMEs, each with the comment before it that says which test runs it or what it needs."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COLLECTION = ROOT / "collections/ansible_collections/taco/train"
GUIDES = sorted((COLLECTION / "docs/docsite/rst").rglob("*.rst"))
READMES = [ROOT / "README.md", COLLECTION / "README.md"]
# What a block may need that a test doesn't have. Its commands are still looked at: names of playbooks, tags, variables.
NEEDS = {"gpu hosts", "cluster", "lab", "internet"}
RST_BLOCK = re.compile(r"^(?P<indent> *)\.\. code-block:: (?P<language>\w+)\n(?P<rest>(?:(?P=indent) +.*\n|\n)*)", re.M)
RST_MARK = re.compile(r"^\s*\.\. (needs|tested|shows): (.+)$")
MARKDOWN_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.M | re.S)
MARKDOWN_MARK = re.compile(r"^<!-- (needs|tested|shows): (.+) -->$")


class Block(NamedTuple):
    """A block: where it is, what it is, and what the mark before it says."""

    where: str
    language: str
    kind: str
    mark: str
    caption: str
    text: str


def _before(text, start):
    """Return the last line that isn't empty before a place."""
    lines = [line for line in text[:start].splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _block(path, text, found, mark, language, caption, body):
    kind, said = mark.groups() if mark else ("", "")
    where = f"{path.relative_to(ROOT)}:{text[: found.start()].count(chr(10)) + 1}"
    return Block(where, language, kind, said, caption, body)


def _of_rst(path):
    text = path.read_text()
    for found in RST_BLOCK.finditer(text):
        lines = found["rest"].splitlines()
        options = [line.strip() for line in lines if line.strip().startswith(":caption: ")]
        code = [line for line in lines if not line.strip().startswith(":caption: ")]
        least = min(len(line) - len(line.lstrip()) for line in code if line.strip())
        body = "\n".join(line[least:] for line in code).strip("\n") + "\n"
        caption = options[0].split(": ", 1)[1] if options else ""
        yield _block(path, text, found, RST_MARK.match(_before(text, found.start())), found["language"], caption, body)


def _of_markdown(path):
    text = path.read_text()
    for found in MARKDOWN_BLOCK.finditer(text):
        mark = MARKDOWN_MARK.match(_before(text, found.start()))
        yield _block(path, text, found, mark, found["language"], "", found["body"])


def blocks():
    """Return the blocks of all guides and READMEs."""
    found = [block for path in GUIDES for block in _of_rst(path)]
    return found + [block for path in READMES for block in _of_markdown(path)]


def commands(block):
    """Return the commands of a block of shell, without comments."""
    text = block.text.replace("\\\n", " ").replace(" && ", "\n")
    lines = [re.sub(r"\s+#.*$", "", line).strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]

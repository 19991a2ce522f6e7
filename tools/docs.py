#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build the documentation site into .docs with antsibull-docs and sphinx. A warning is an error."""

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / ".docs"
PAGES = SITE / "rst"
# Names of other projects are not resolved, because that needs the internet. Names of this collection must all resolve.
SETTINGS = """
intersphinx_mapping = {}
nitpick_ignore_regex = [
    (".*", r"ansible_collections\\.(ansible|community|kubernetes)\\..*"),
    (".*", r"(action|callback)_plugins|common_return_values|ansible_configuration_settings"),
]
"""


def run(*arguments):
    environment = dict(os.environ, ANSIBLE_COLLECTIONS_PATH=str(ROOT / "collections"))
    environment.pop("ANSIBLE_CONFIG", None)
    subprocess.run([str(ROOT / ".venv/bin" / arguments[0]), *arguments[1:]], cwd=str(SITE), env=environment, check=True)


def captioned(part):
    return f".. toctree::\n    :maxdepth: 1\n    :caption: {part[1]}\n"


def grouped(index):
    """The first page, whose lists of guides, plugins and roles become groups of the sidebar with short names."""
    heading = r"^([A-Z][\w ]+)\n[-~]+\n\n"
    index, _, pages = index.partition("\n.. _changelog_section_for_taco.train:\n")
    guides, plugins, pages = pages.partition("\n.. _plugin_index_for_taco.train:\n")
    guides = guides.replace("\nChangelog\n---------\n\n.. toctree::\n    :maxdepth: 1\n\n    changelog\n", "")
    guides = re.sub(heading + r"\.\. toctree::\n    :maxdepth: 1\n", captioned, guides, flags=re.M)
    hidden = heading + r"(?:(?![-~.]).*\n)+\.\. toctree::\n    :maxdepth: 1\n    :hidden:\n"
    pages = re.sub(hidden, lambda part: part.group() + f"    :caption: {part[1]}\n", pages, flags=re.M)
    pages = re.sub(r"^    (\w+)_(module|callback|filter|lookup|role)$", r"    \1 <\1_\2>", pages, flags=re.M)
    return f"{index}{guides.rstrip()}\n    Changelog <changelog>\n{plugins}{pages}"


def main():
    shutil.rmtree(SITE, ignore_errors=True)
    SITE.mkdir(mode=0o755)
    about = ["--project", "taco.train", "--title", "taco.train", "--copyright", "The taco.train authors"]
    collection = ["--use-current", "--squash-hierarchy", "taco.train"]
    run("antsibull-docs", "sphinx-init", "--dest-dir", ".", "--fail-on-error", *about, *collection)
    with open(SITE / "conf.py", "a", encoding="utf-8") as settings:
        settings.write(SETTINGS)
    PAGES.mkdir(mode=0o755, exist_ok=True)
    run(
        "antsibull-docs",
        "--config-file",
        "antsibull-docs.cfg",
        "collection",
        "--fail-on-error",
        "--dest-dir",
        "rst",
        *collection,
    )
    index = PAGES / "index.rst"
    index.write_text(grouped(index.read_text(encoding="utf-8")), encoding="utf-8")
    run("sphinx-build", "-M", "html", "rst", "build", "-c", ".", "-W", "--keep-going", "--quiet")
    print("The site: " + str(SITE / "build/html/index.html"))


if __name__ == "__main__":
    main()

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A stand-in for `grubby --update-kernel=ALL` on boot loader specification entries, as it behaved in 2018 and as it does now.

2018: it edits the entries alone. A key counts as present wherever its letters stand, also within another key, and only its first
occurrence changes. Now: it compares whole words, drops every word of a key before it appends, and also edits kernelopts in GRUB's
environment (then not the entries that name it), GRUB_CMDLINE_LINUX and each line that begins alike, and /etc/kernel/cmdline, which
it makes from the oldest entry where there is none. Both edit rescue entries.
"""

import functools
import re
import subprocess

from ansible_collections.taco.train.plugins.module_utils._boot.entries import grubenv, with_variable

OPTIONS = re.compile(r"^options.*$", re.MULTILINE)


class FakeGrubby:
    """grubby of one year (2018 or current) on the host below a folder."""

    def __init__(self, root, year):
        self.root, self.current = root, year == "current"

    def update_all(self, args="", remove_args=""):
        added, removed = args.split(), remove_args.split()
        assert added or removed, "grubby has no action without --args or --remove-args"
        assert not set("&!\\'\"$*[") & set(args + remove_args), "grubby hands these to sed and a shell"
        update = self._words_now if self.current else self._words_of_2018
        edit = functools.partial(update, removed=removed, added=added)
        entries = sorted((self.root / "boot/loader/entries").glob("*.conf"), key=_version)
        if self.current:
            self._shared(entries, edit)
        for path in entries:
            text = path.read_text()
            options = _options(text)
            if not self.current or "$kernelopts" not in options.split():
                path.write_text(text.replace(OPTIONS.search(text).group(), "options " + edit(options)))

    @staticmethod
    def _words_of_2018(line, removed, added):
        line = " ".join(line.split())
        for one in removed:
            line = " ".join(re.sub(one + "[^ ]*", "", line, count=1).split())
        for one in added:
            key, equals, _value = one.rpartition("=")
            if re.search(key + "=" if equals else one, line) is None:
                line += " " + one
            elif equals:
                line = re.sub(key + "=[^ ]*", one, line, count=1)
        return " ".join(line.split())

    @staticmethod
    def _words_now(line, removed, added):
        line = " ".join(line.split())
        for one in removed + [one.split("=")[0] for one in added]:
            # A word with a value goes once, a key goes with whatever value and each time.
            pattern, count = (rf"(^|\s){one}(\s|$)", 1) if "=" in one else (rf"(^|\s){one}((\s|$)|=[^ ]*)", 0)
            line = re.sub(pattern, " ", line, count=count)
            line = " ".join(line.split())
        return " ".join([*line.split(), *added])

    def _shared(self, entries, edit):
        defaults, environment = self.root / "etc/default/grub", self.root / "boot/grub2/grubenv"
        shown = subprocess.run(
            ["bash", "-c", f'. {defaults}; echo "$GRUB_CMDLINE_LINUX"'], stdout=subprocess.PIPE, text=True, check=True
        )
        if shown.stdout.strip():
            line = f'GRUB_CMDLINE_LINUX="{edit(shown.stdout)}"'
            defaults.write_text(re.sub("^GRUB_CMDLINE_LINUX.*$", lambda _: line, defaults.read_text(), flags=re.M))
        known = grubenv(environment.read_text())
        oldest = _options(entries[0].read_text()).replace("$kernelopts", known.get("kernelopts", "$kernelopts"))
        if known.get("kernelopts"):
            environment.write_text(with_variable(environment.read_text(), "kernelopts", edit(known["kernelopts"])))
        cmdline = self.root / "etc/kernel/cmdline"
        cmdline.parent.mkdir(exist_ok=True)
        line = cmdline.read_text().split("\n")[0] if cmdline.exists() else oldest
        cmdline.write_text(edit(line) + "\n")


def _options(text):
    return OPTIONS.search(text).group()[len("options") :].strip()


def _version(path):
    """Sort names as `sort -V` does those of these tests: numbers by their value."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.stem)]

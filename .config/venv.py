#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make .venv hold what requirements-dev.txt names, and do nothing when it already does."""

from environments import ROOT, choose_python, ensure

OLDEST = (3, 11)  # what ansible-core 2.19 asks of a controller


def main():
    ensure("venv", ROOT / ".venv", ["-r", str(ROOT / "requirements-dev.txt")], choose_python("venv", OLDEST))


if __name__ == "__main__":
    main()

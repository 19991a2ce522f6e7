#!/usr/bin/env python3
# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install requirements-run.txt into .venv, and requirements-dev.txt with --dev, unless they are installed already."""

import argparse

from environments import ROOT, choose_python, ensure

OLDEST = (3, 11)  # the oldest Python that ansible-core 2.19 supports on a controller
RUN, DEV = (["-r", str(ROOT / name)] for name in ("requirements-run.txt", "requirements-dev.txt"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--dev", action="store_true", help="also the tools that test the collection and build its documentation"
    )
    options = parser.parse_args()
    ensure("venv", ROOT / ".venv", RUN, choose_python("venv", OLDEST), DEV if options.dev else ())


if __name__ == "__main__":
    main()

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests of actions share."""

from bench_play import bench
from mpijob_actor import on
from preflight_site import site

__all__ = ["bench", "on", "site"]

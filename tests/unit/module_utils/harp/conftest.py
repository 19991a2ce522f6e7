# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host on which HARP is configured."""

import pytest
from harp_host import HarpHost


@pytest.fixture
def host(tmp_path):
    return HarpHost(tmp_path)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What apt and yum print about a package says which version they would install, and from which repository."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._node.packages import candidates

# Printed by apt 2.7.14 and 1.6.17, dnf 4.14 and yum 3.4.3.
NVIDIA_LIST = """nvidia-container-toolkit:
  Installed: 1.16.2-1
  Candidate: 1.17.8-1
  Version table:
     1.17.8-1 500
        500 https://nvidia.github.io/libnvidia-container/stable/deb/amd64  Packages
 *** 1.16.2-1 500
        500 https://nvidia.github.io/libnvidia-container/stable/deb/amd64  Packages
        100 /var/lib/dpkg/status
"""
PINNED = """docker-ce:
  Installed: (none)
  Candidate: 5:20.10.24~3-0~ubuntu-jammy
  Package pin: 5:20.10.24~3-0~ubuntu-jammy
  Version table:
     5:27.3.1-1~ubuntu.22.04~jammy 500
        500 https://download.docker.com/linux/ubuntu jammy/stable amd64 Packages
     5:20.10.24~3-0~ubuntu-jammy 1000
        500 https://mirror.example.com/docker jammy/stable amd64 Packages
"""
PINNED_REPOSITORY = PINNED.replace("        500 ", "       1001 ")
ABSENT = """docker-ce:
  Installed: (none)
  Candidate: (none)
  Version table:
     5:20.10.24~3-0~ubuntu-jammy -1
        100 /var/lib/dpkg/status
"""
PINNED_AWAY = """docker-ce:
  Installed: (none)
  Candidate: (none)
  Version table:
     5:27.3.1-1~ubuntu.22.04~jammy -1
         -1 https://download.docker.com/linux/ubuntu jammy/stable amd64 Packages
"""
FROM_A_FILE = """docker-ce:
  Installed: 5:24.0.7-1~ubuntu.22.04~jammy
  Candidate: 5:24.0.7-1~ubuntu.22.04~jammy
  Version table:
 *** 5:24.0.7-1~ubuntu.22.04~jammy 100
        100 /var/lib/dpkg/status
"""
DNF = """Installed Packages
docker-ce.x86_64                 3:26.1.2-1.el9                 @docker-ce-stable
Available Packages
docker-ce.x86_64                 3:26.1.3-1.el9                 docker-ce-stable
nvidia-container-toolkit.x86_64  1.17.8-1                       cuda-rhel9-x86_64
"""
YUM = """Available Packages
nvidia-container-toolkit.x86_64
                      1.13.5-1       libnvidia-container
"""
ROWS = [
    (
        NVIDIA_LIST,
        {
            "nvidia-container-toolkit": (
                "1.17.8-1",
                "https://nvidia.github.io/libnvidia-container/stable/deb/amd64  Packages",
            )
        },
    ),
    (
        PINNED,
        {"docker-ce": ("20.10.24~3-0~ubuntu-jammy", "https://mirror.example.com/docker jammy/stable amd64 Packages")},
    ),
    (
        PINNED_REPOSITORY,
        {"docker-ce": ("20.10.24~3-0~ubuntu-jammy", "https://mirror.example.com/docker jammy/stable amd64 Packages")},
    ),
    (ABSENT, {}),
    (
        PINNED_AWAY,
        {
            "docker-ce": (
                "27.3.1-1~ubuntu.22.04~jammy",
                "https://download.docker.com/linux/ubuntu jammy/stable amd64 Packages",
                True,
            )
        },
    ),
    (FROM_A_FILE, {}),
    (
        PINNED + ABSENT.replace("docker-ce", "other"),
        {"docker-ce": ("20.10.24~3-0~ubuntu-jammy", PINNED.splitlines()[-1].split(None, 1)[1])},
    ),
    (
        DNF,
        {
            "docker-ce": ("26.1.3-1.el9", "docker-ce-stable"),
            "nvidia-container-toolkit": ("1.17.8-1", "cuda-rhel9-x86_64"),
        },
    ),
    (YUM, {"nvidia-container-toolkit": ("1.13.5-1", "libnvidia-container")}),
    ("docker-ce.x86_64  3:26.1.3-1.el9  @System\n", {}),
    ("N: Unable to locate package docker-ce\n", {}),
    ("", {}),
]


@pytest.mark.parametrize(("text", "offered"), ROWS)
def test_the_version_that_would_be_installed_is_found_with_its_repository(text, offered):
    found = candidates(text)
    assert {name: (one["version"], one["repository"]) for name, one in found.items()} == {
        name: one[:2] for name, one in offered.items()
    }
    assert [name for name, one in found.items() if one["forbidden"]] == [
        name for name, one in offered.items() if one[2:]
    ]

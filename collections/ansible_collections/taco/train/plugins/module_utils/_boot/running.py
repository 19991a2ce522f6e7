# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hugepages of the running kernel: how many there are, whether they are those that were booted for, and more of them now."""

import os

from ansible_collections.taco.train.plugins.module_utils._boot.config import BootConfig
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import PAGE_BYTES, KernelLine
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._boot.units import text_of


def _pool(root: str, page_size: str) -> str:
    return os.path.join(root, f"sys/kernel/mm/hugepages/hugepages-{PAGE_BYTES[page_size] // 1024}kB/nr_hugepages")


def pool_total(root: str, page_size: str) -> int:
    """Return how many pages of a size the running kernel holds."""
    return int(text_of(root, _pool("", page_size)) or 0)


def reserve_now(root: str, page_size: str, count: int) -> None:
    """Ask the running kernel for the pages, and fail when it couldn't find them all."""
    path = _pool(root, page_size)
    if not os.path.exists(path):
        raise HugepagesError(
            f"{path} is missing: the running kernel has no pool of {page_size} pages; reboot instead of runtime"
        )
    with open(path, "w") as handle:
        handle.write(str(count))
    with open(path) as handle:
        got = int(handle.read())
    if got < count:
        raise HugepagesError(
            f"the running kernel reserved {got} of {count} pages of {page_size}, {count - got} missing: its memory is too "
            "fragmented; the boot configuration is written, so a reboot gives them all"
        )


def needs_reboot(config: BootConfig, page_size: str, line: KernelLine) -> bool:
    """Say whether the running kernel lacks the pages, or was booted with others than the boot configuration's line says."""
    booted = KernelLine(config.text("/proc/cmdline").split())
    if booted.counts(page_size) != line.counts(page_size) or booted.default_size != line.default_size:
        return True
    count = line.count(page_size)
    return count is not None and pool_total(config.root, page_size) != count

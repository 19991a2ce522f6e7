# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide from what is on a host how its boot configuration is written. Everything is read below a given root.

Sources of the rules: the GNU GRUB manual, Debian's and Ubuntu's grub-mkconfig (drop-ins in /etc/default/grub.d), the boot
loader chapters of the RHEL 7 and RHEL 9 documentation, TencentOS 2.4's paths.
"""

import glob
import os
import re
from typing import Dict, List, NamedTuple, Optional

DEFAULTS = "/etc/default/grub"
DROP_INS = "/etc/default/grub.d"
KERNEL_CMDLINE = "/etc/kernel/cmdline"  # what new kernels get on EL9 and later; one line of arguments, no shell
ENTRIES = "/boot/loader/entries"
FOLDERS = ("usr/local/sbin", "usr/sbin", "sbin", "usr/local/bin", "usr/bin", "bin")


class BootLayout(NamedTuple):
    """How the boot configuration of a host is written."""

    layout: str  # grub-d, grub-default, bls or unknown
    firmware: str  # efi or bios
    reason: str
    command: List[str]  # what generates the entries, with an absolute program; empty where they are edited, or unknown
    config: Optional[str]  # the generated file, without the root
    environment: Optional[str] = None  # GRUB's environment block, without the root


def _find(root: str, name: str) -> Optional[str]:
    """Return the absolute path, without the root, of a program below it."""
    for folder in FOLDERS:
        if os.access(os.path.join(root, folder, name), os.X_OK):
            return "/" + os.path.join(folder, name)
    return None


def _text(root: str, path: str) -> str:
    try:
        with open(os.path.join(root, path.lstrip("/")), encoding="utf-8", errors="replace") as handle:
            return handle.read()
    except OSError:
        return ""


def _identity(root: str) -> str:
    match = re.search(r"^ID=[\"']?([A-Za-z0-9._-]+)", _text(root, "/etc/os-release"), re.MULTILINE)
    return match.group(1) if match else ""


def _grub2_config(root: str, firmware: str) -> Optional[str]:
    """Return the grub.cfg that the firmware's boot loader reads, or None when that can't be told."""
    if firmware == "bios":
        return "/boot/grub2/grub.cfg"
    found = sorted(glob.glob(os.path.join(glob.escape(root), "boot/efi/EFI/*/grub.cfg")))
    names = {os.path.basename(os.path.dirname(path)): "/" + os.path.relpath(path, root) for path in found}
    own = {"centos": "centos", "rhel": "redhat", "tencentos": "tencentos", "tlinux": "tencentos"}.get(_identity(root))
    if own in names:
        return names[own]
    if len(names) == 1:
        return list(names.values())[0]
    return None


def detect(root: str) -> BootLayout:
    """Return how the boot configuration of the host below root is written."""
    firmware = "efi" if os.path.isdir(os.path.join(root, "sys/firmware/efi")) else "bios"
    update_grub, mkconfig = _find(root, "update-grub"), _find(root, "grub2-mkconfig")
    defaults = _text(root, DEFAULTS)
    if update_grub:
        reason = f"{update_grub} is there"
        return BootLayout("grub-d", firmware, reason, [update_grub], "/boot/grub/grub.cfg", "/boot/grub/grubenv")
    if not mkconfig:
        return BootLayout("unknown", firmware, "there is neither update-grub nor grub2-mkconfig", [], None)
    config = _grub2_config(root, firmware)
    blscfg = re.findall(r"^\s*GRUB_ENABLE_BLSCFG=[\"']?(\w+)", defaults, re.MULTILINE)
    environment = "/boot/grub2/grubenv"
    if blscfg and blscfg[-1] == "true" and os.path.isdir(os.path.join(root, ENTRIES.lstrip("/"))):
        reason = f"GRUB_ENABLE_BLSCFG=true and {ENTRIES} is there"
        return BootLayout("bls", firmware, reason, [], config, environment)
    if config is None:
        there = ", ".join(sorted(os.listdir(os.path.join(root, "boot/efi/EFI")))) if _has_efi(root) else "nothing"
        reason = f"the host boots by EFI and /boot/efi/EFI holds {there}, so which grub.cfg is read can't be told"
        return BootLayout("unknown", firmware, reason, [], None)
    reason = f"{mkconfig} is there and boot loader specification entries are not in use"
    return BootLayout("grub-default", firmware, reason, [mkconfig, "-o", config], config, environment)


def _has_efi(root: str) -> bool:
    return os.path.isdir(os.path.join(root, "boot/efi/EFI"))


def observe_boot(root: str) -> Dict[str, str]:
    """Return layout, firmware and reason, as node_info shows them."""
    found = detect(root)
    return {"layout": found.layout, "firmware": found.firmware, "reason": found.reason}

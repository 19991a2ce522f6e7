# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find out what boots a host: from the firmware to the file that GRUB reads, and from there to menu entries or entries of files.

Everything is read below a given root. What can't be followed, or contradicts itself, has the layout unknown and a reason.

Sources of the rules: the GNU GRUB manual, Debian's and Ubuntu's grub-mkconfig (drop-ins in /etc/default/grub.d), the boot
loader chapters of the RHEL 7 and RHEL 9 documentation, TencentOS 2.4's paths, systemd's boot loader interface.
"""

import glob
import os
import re
from typing import Dict, List, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._boot.entries import (
    bls_fields,
    chosen_of_others,
    grub_entries,
    grubenv,
    is_rescue,
)

DEFAULTS = "/etc/default/grub"
DROP_INS = "/etc/default/grub.d"
KERNEL_CMDLINE = "/etc/kernel/cmdline"  # what new kernels get on EL9 and later; one line of arguments, no shell
ENTRIES = "/boot/loader/entries"
DEBIAN_CONFIG, EL_CONFIG = "/boot/grub/grub.cfg", "/boot/grub2/grub.cfg"
# Where an administrator's own wrappers lie comes last.
FOLDERS = ("usr/sbin", "sbin", "usr/bin", "bin", "usr/local/sbin", "usr/local/bin")
ESPS = ("boot/efi", "efi", "boot")  # where the EFI system partition is mounted
LOADER_VENDOR = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
EFI_VENDOR = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
FOLDER_OF_PROGRAM = re.compile(rb"(?i)\\\0E\0F\0I\0\\\0((?:[^\\\0]\0)+)\\\0")
BLSCFG = re.compile(r"^[ \t]*blscfg\b", re.MULTILINE)
NEXT_CONFIG = re.compile(r"^[ \t]*(?:configfile|source)[ \t]+(\S+grub\.cfg[\"']?)[ \t]*$", re.MULTILINE)
MOST_HOPS = 4


class UnclearError(Exception):
    """What boots the host is not GRUB, or can't be told."""


class BootLayout(NamedTuple):
    """How the boot configuration of a host is written."""

    layout: str  # grub-d, grub-default, bls or unknown
    firmware: str  # efi or bios
    reason: str
    command: List[str]  # what generates the entries, with an absolute program; empty where they are edited, or unknown
    config: Optional[str]  # the grub.cfg that decides what boots, without the root
    environment: Optional[str] = None  # the environment block that GRUB reads with it, without the root
    folder: str = ""  # where GRUB finds grub.cfg, which may be a link, and custom.cfg


def _find(root: str, name: str) -> Optional[str]:
    """Return the absolute path, without the root, of a program below it."""
    for folder in FOLDERS:
        if os.access(os.path.join(root, folder, name), os.X_OK):
            return "/" + os.path.join(folder, name)
    return None


def _exists(root: str, path: str) -> bool:
    return os.path.exists(os.path.join(root, path.lstrip("/")))


def _bytes(root: str, path: str) -> bytes:
    try:
        with open(os.path.join(root, path.lstrip("/")), "rb") as handle:
            return handle.read()
    except OSError:
        return b""


def _text(root: str, path: str) -> str:
    return _bytes(root, path).decode("utf-8", "replace")


def _efi_variable(root: str, name: str, vendor: str) -> bytes:
    """Return the value of a variable of the firmware, without the four bytes of its attributes."""
    return _bytes(root, f"/sys/firmware/efi/efivars/{name}-{vendor}")[4:]


def _require_grub(root: str) -> None:
    """Raise if something else than GRUB started this system, or writes its entries."""
    if _exists(root, "/run/ostree-booted"):
        raise UnclearError(
            "/run/ostree-booted is there: ostree writes the boot entries, so reserve the pages with rpm-ostree kargs --append-if-missing"
        )
    loader = _efi_variable(root, "LoaderInfo", LOADER_VENDOR).decode("utf-16-le", "replace").rstrip("\0")
    if loader and not loader.startswith("GRUB"):
        raise UnclearError(
            f"the firmware's variable LoaderInfo names {loader} as boot loader, which does not read GRUB's files: put the arguments "
            f"where it reads them, such as {KERNEL_CMDLINE} and then kernel-install add, or proxmox-boot-tool refresh"
        )
    booted = _text(root, "/proc/cmdline").split()
    # In a container it is the line of the machine below.
    container = _exists(root, "/.dockerenv") or _exists(root, "/run/.containerenv")
    if booted and not container and not any(word.startswith("BOOT_IMAGE=") for word in booted):
        raise UnclearError(
            "/proc/cmdline has no BOOT_IMAGE=, which GRUB adds to the kernel line: a unified kernel image, another boot loader or "
            f"the hypervisor started this kernel, and takes its arguments from elsewhere (such as {KERNEL_CMDLINE})"
        )


def _booted_folder(root: str) -> str:
    """Return the folder below EFI of the program that the firmware started, empty if its variables do not tell."""
    current = _efi_variable(root, "BootCurrent", EFI_VENDOR)
    option = _efi_variable(root, f"Boot{int.from_bytes(current[:2], 'little'):04X}", EFI_VENDOR) if current else b""
    found = FOLDER_OF_PROGRAM.search(option)
    return found.group(1).decode("utf-16-le", "replace") if found else ""


def _first_config(root: str, firmware: str, debian: bool) -> str:
    """Return the grub.cfg that the firmware's GRUB reads first."""
    found = {}  # type: Dict[str, str]
    for esp in reversed(ESPS) if firmware == "efi" else ():
        for path in glob.glob(os.path.join(glob.escape(root), esp, "EFI/*/grub.cfg")):
            found[os.path.basename(os.path.dirname(path)).lower()] = "/" + os.path.relpath(path, root)
    if not found and (firmware == "bios" or debian):
        own = DEBIAN_CONFIG if debian else EL_CONFIG
        path = own if _exists(root, own) else {DEBIAN_CONFIG: EL_CONFIG, EL_CONFIG: DEBIAN_CONFIG}[own]
        if not _exists(root, path):
            raise UnclearError(f"{own} is missing, so what boots is unknown: mount /boot, or generate it")
        return path
    identity = re.search(r"^ID=[\"']?([A-Za-z0-9._-]+)", _text(root, "/etc/os-release"), re.MULTILINE)
    system = identity.group(1) if identity else ""
    own_folder = {"rhel": "redhat", "ol": "redhat", "tlinux": "tencentos"}.get(system, system)
    for name in (_booted_folder(root).lower(), own_folder):
        if name in found:
            return found[name]
    if len(found) == 1:
        return list(found.values())[0]
    there = "grub.cfg of " + ", ".join(sorted(found)) if found else "no grub.cfg"
    raise UnclearError(
        f"the host boots by EFI and the EFI system partition holds {there}, so which one is read can't be told: mount it at /boot/efi, "
        "and efivarfs at /sys/firmware/efi/efivars"
    )


def _followed(root: str, path: str) -> Optional[str]:
    """Return the grub.cfg to which one leads that holds no entries itself; None if it holds them."""
    text = _text(root, path)
    targets = NEXT_CONFIG.findall(text)
    if not targets or BLSCFG.search(text) or grub_entries(text):
        return None
    names = {"prefix": os.path.dirname(path), "config_directory": os.path.dirname(path)}
    names.update(re.findall(r"^[ \t]*set[ \t]+(\w+)=(\S+)", text, re.MULTILINE))
    places, name = [], ""  # type: List[str], str
    for target in targets:
        for _time in range(3):
            target = re.sub(r"\$\{?(\w+)\}?", lambda match: names.get(match.group(1), ""), target)
        # GRUB names a file by its partition, which is mounted at / or at /boot, and by a subvolume of Btrfs.
        name = re.sub(r"^\([^)]*\)", "", re.sub(r"[\"']", "", target))
        there = [place for place in ("/boot" + name, name, re.sub(r"^/@[^/]*", "", name)) if _exists(root, place)]
        places += [place for place in there[:1] if place not in [path, *places]]
    if not places:
        raise UnclearError(f"{path} leads to {name}, which is not there: mount the file system that holds it")
    if len(places) > 1:
        raise UnclearError(
            f"{path} leads to {' or '.join(places)}, and which one GRUB reads can't be told: leave one line there"
        )
    return places[0]


def _require_mounted(root: str, path: str) -> None:
    """Raise if a folder that /etc/fstab mounts and that holds a file is not mounted: GRUB reads what is below the mount."""
    mounts = [line.split() for line in _text(root, "/proc/mounts").splitlines()]
    mounted = [fields[1].rstrip("/") for fields in mounts if len(fields) > 1]
    for line in _text(root, "/etc/fstab").splitlines() if mounted else []:
        place = "".join(line.partition("#")[0].split()[1:2]).rstrip("/")
        if place and path.startswith(place + "/") and place not in mounted:
            raise UnclearError(
                f"/etc/fstab mounts {place}, and it is not mounted, so {path} is not what GRUB reads: mount {place}"
            )


def _config(root: str, firmware: str, debian: bool) -> str:
    """Return the grub.cfg that decides what boots."""
    path = _first_config(root, firmware, debian)
    for _hop in range(MOST_HOPS):
        _require_mounted(root, path)
        following = _followed(root, path)
        if following is None:
            return path
        path = following
    raise UnclearError(f"{path} leads to another grub.cfg, and that one to the next")


def _real(root: str, path: str) -> str:
    """Return a path with links followed, so that a generator can't put a file where a link is."""
    found = os.path.relpath(os.path.realpath(os.path.join(root, path.lstrip("/"))), os.path.realpath(root))
    return path if found.startswith("..") else "/" + found


def _environment(root: str, config: str) -> str:
    """Return the environment block that a grub.cfg loads: the one beside it unless it names another."""
    folder = os.path.dirname(config)
    for target in re.findall(r"^[ \t]*load_env[ \t].*?(?:-f|--file)[ =](\S+)", _text(root, config), re.MULTILINE):
        name = re.sub(r"\$\{?(?:prefix|config_directory)\}?", folder, target.strip("\"'"))
        if name != f"{folder}/grubenv" and "$" not in name and _exists(root, name):
            return name
    return f"{folder}/grubenv"


def _require_own_default(root: str, config: str, environment: str) -> None:
    """Raise if GRUB starts an entry by default that gets no pages: a rescue image, or one that others wrote."""
    text, known = _text(root, config), grubenv(_text(root, environment))
    chosen, saved = chosen_of_others(text, known), known.get("saved_entry", "")
    if BLSCFG.search(text) and "saved_entry" in text and re.match(r"[\w.+-]+$", saved):
        fields = bls_fields(_text(root, f"{ENTRIES}/{saved}.conf"))
        chosen = saved if is_rescue(saved) or is_rescue(fields.get("linux", "")) else chosen
    if chosen:
        raise UnclearError(
            f"{config} starts {chosen!r} by default, which gets no arguments from {DEFAULTS} and so no pages: choose another entry with "
            "GRUB_DEFAULT there, or where that is saved with grub-set-default (grub2-set-default)"
        )


def _settings(root: str) -> bool:
    """Return whether grub2-mkconfig is told to write entries of files instead of menu entries."""
    found = re.findall(r"^\s*(?:export\s+)?GRUB_ENABLE_BLSCFG=[\"']?(\w+)", _text(root, DEFAULTS), re.MULTILINE)
    return found[-1:] == ["true"]


def detect(root: str) -> BootLayout:
    """Return how the boot configuration of the host below root is written."""
    firmware = "efi" if _exists(root, "/sys/firmware/efi") else "bios"
    try:
        return _detect(root, firmware)
    except UnclearError as error:
        return BootLayout("unknown", firmware, str(error), [], None)


def _detect(root: str, firmware: str) -> BootLayout:
    _require_grub(root)
    update_grub, mkconfig = _find(root, "update-grub"), _find(root, "grub2-mkconfig")
    if not update_grub and not mkconfig:
        raise UnclearError("there is neither update-grub nor grub2-mkconfig")
    debian = not mkconfig or (update_grub is not None and not update_grub.startswith("/usr/local/"))
    path = _config(root, firmware, debian)
    config = _real(root, path)
    text, environment, folder = _text(root, config), _environment(root, path), os.path.dirname(path)
    entries = grub_entries(text)
    _require_own_default(root, config, environment)
    reason = f"{config} reads {ENTRIES} (blscfg)"
    found = BootLayout("bls", firmware, reason, [], config, environment, folder)
    if BLSCFG.search(text):
        if entries:
            raise UnclearError(f"{config} has menu entries of its own and reads those of {ENTRIES} (blscfg) as well")
        if not glob.glob(os.path.join(glob.escape(root), ENTRIES.lstrip("/"), "*.conf")):
            raise UnclearError(f"{config} reads the entries of {ENTRIES} (blscfg), and none is there: mount /boot")
        return found
    if not entries:
        raise UnclearError(f"{config} has no entry that boots Linux, and does not read {ENTRIES} (blscfg)")
    reason = f"{config} has menu entries"
    if path == DEBIAN_CONFIG and update_grub:
        command = [update_grub] + ([] if config == path else ["-o", config])
        return found._replace(layout="grub-d", reason=f"{reason}, written by {update_grub}", command=command)
    if not mkconfig:
        raise UnclearError(f"{reason}, and {update_grub} does not write this file")
    if _settings(root):
        raise UnclearError(
            f"{reason}, while {DEFAULTS} says GRUB_ENABLE_BLSCFG=true: look at {ENTRIES} and run {mkconfig} -o {config} yourself, or set "
            "GRUB_ENABLE_BLSCFG=false"
        )
    reason = f"{reason}, written by {mkconfig}"
    return found._replace(layout="grub-default", reason=reason, command=[mkconfig, "-o", config])


def observe_boot(root: str) -> Dict[str, str]:
    """Return layout, firmware and reason, as node_info shows them."""
    found = detect(root)
    return {"layout": found.layout, "firmware": found.firmware, "reason": found.reason}

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find the settings of others that change the hugepages after a boot.

vm.nr_hugepages counts pages of the default size. When that becomes 1G, a leftover 2048 claims all memory, and 0 frees the pages that the
kernel line reserved. Sources: sysctl.d(5), tmpfiles.d(5), systemd.unit(5), tuned.conf(5), fstab(5), the kernel's kernel-parameters.txt.
Everything is read below a given root. Files are judged by what they contain, units by whether a boot starts them.
"""

import glob
import os
import re
from typing import Any, Dict, List, Optional, Pattern, Set, Tuple

from ansible_collections.taco.train.plugins.module_utils._boot.contradictions import ARGUMENTS, MOUNT, Settings
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import PREFIXES
from ansible_collections.taco.train.plugins.module_utils._boot.units import Units, names_in, text_of

NAMES = ("vm.nr_hugepages", "vm.nr_hugepages_mempolicy")
# The first of them that holds a file of some name hides the others of that name.
FOLDERS = ("etc", "run", "usr/local/lib", "usr/lib", "lib")
NO = ("0", "false", "no", "n", "f")
PROFILES = ("etc/tuned", "etc/tuned/profiles", "usr/lib/tuned", "usr/lib/tuned/profiles")
SCRIPTS = (
    *("etc/rc.local", "etc/rc.d/rc.local", "etc/crontab", "etc/cron.d/*", "etc/cron.*ly/*", "var/spool/cron/*"),
    *("var/spool/cron/crontabs/*", "var/lib/cloud/scripts/per-boot/*"),
    *("etc/udev/rules.d/*.rules", "usr/lib/udev/rules.d/*.rules", "etc/modprobe.d/*.conf", "etc/rc[35].d/S*"),
)
KERNEL_LINES = ("etc/default/grub", "etc/default/grub.d/*.cfg", "etc/kernel/cmdline", "boot/loader/entries/*.conf")
GRUB_FILES = ("boot/grub*/grubenv", "boot/efi/EFI/*/grubenv", "boot/grub*/*.cfg", "boot/efi/EFI/*/*.cfg")
# Variables of GRUB that hold the kernel line itself, which the module hugepages edits.
OWN_VARIABLES = ("kernelopts", "default_kernelopts")
# The start-up script of Debian's DPDK package writes what its configuration asks for, by default nothing.
DPDK_SCRIPT, DPDK_CONFIG = "dpdk-init", "etc/dpdk/dpdk.conf"
FSTAB = re.compile(r"^\S+\s+(?P<name>/dev/hugepages)/?\s+hugetlbfs\s+(?!\S*\bnoauto\b)\S*\bpagesize=(?P<value>[^,\s]+)")
UNIT_MOUNT = re.compile(r"^(?P<name>Options)=\S*\bpagesize=(?P<value>[^,\s]+)")
GRUB_VARIABLE = re.compile(r"^(?:\s*set\s+)?(?P<name>\w+)=(?P<value>.*)$")
TUNED_FILE = "etc/tuned/bootcmdline"
TUNED_ARGUMENTS = re.compile(r"^\s*(?P<name>TUNED_BOOT_CMDLINE)=(?P<value>.*)$")

COUNTER = r"nr_hugepages(?:_mempolicy)?\b"
IN_KERNEL_LINE = re.compile(r"(?:^|[\s\"'])sysctl[./](?P<name>vm[./]" + COUNTER + r")=(?P<value>[^\s\"']+)")
TMPFILE = re.compile(r"^\s*[wfF]\S*\s+\"?(?P<name>[^\s\"]*/" + COUNTER + r")\"?(?:\s+\S+){4}\s+(?P<value>.*?)\s*$")
DPDK = re.compile(r"^\s*(?P<name>NR_\w+_PAGES)=[\"']?(?P<value>[1-9]\d*)")
SYSCTL = re.compile(r"^\s*-?\s*(?P<name>vm[./]" + COUNTER + r")\s*=\s*(?P<value>.*?)\s*$")
# What in a script or a command writes: a file for sysctl, a redirection, tee or dd, sysctl, Python, and tools made for it.
WRITERS = (
    SYSCTL,
    re.compile(
        r"(?:\b(?:echo|printf)\s+(?:-\S+\s+)*[\"']?(?P<value>[^\s\"'>|;]*)[\"']?\s*)?"
        r"(?:>>?\s*|(?:\|[^|;&]*)?\btee\s+(?:-\S+\s+)*|\bof=)(?P<name>[^\s|;&<>]*" + COUNTER + ")"
    ),
    re.compile(r"\bsysctl\b[^|;#]*?\b(?P<name>vm[./]" + COUNTER + r")\s*=\s*[\"']?(?P<value>[^\s\"'|;&]+)"),
    re.compile(r"(?P<name>[^\s\"'(]*" + COUNTER + r")[\"']\s*,\s*[\"'][wa]"),
    re.compile(r"ATTR\{(?P<name>[^}]*" + COUNTER + r")\}\s*=\s*\"(?P<value>[^\"]*)"),
    re.compile(r"(?P<name>(?:\bhugeadm\b.*?)?--pool-pages-min[\s=]+\w+):(?P<value>\S+)"),
    re.compile(r"\b(?P<name>dpdk-hugepages\b.*(?:--setup|--reserve|-r))\W+(?P<value>\S+)"),
)


def _matching(root: str, patterns: Tuple[str, ...]) -> List[str]:
    """Return the paths, below the root, of the files that some patterns name."""
    paths = [path for pattern in patterns for path in sorted(glob.glob(os.path.join(glob.escape(root), pattern)))]
    return [os.path.relpath(path, root) for path in paths]


def _setting(name: str, value: Optional[str], path: str, line: int, by: Optional[str] = None) -> Dict[str, Any]:
    """Return a setting; value is None where a program computes it."""
    name = name.strip("\"'").replace("/proc/sys/", "")
    counter = name.replace("/", ".")
    return {"name": counter if counter in NAMES else name, "value": value, "file": "/" + path, "line": line, "by": by}


def _lines(text: str) -> List[Tuple[int, str]]:
    """Return the lines of a text that are no comments, with their numbers."""
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()[:1] not in ("#", ";")]


def _matches(pattern: Pattern[str], text: str, path: str, by: Optional[str] = None) -> Settings:
    """Return a setting for each line in which a pattern occurs."""
    groups = [(number, match.groupdict()) for number, line in _lines(text) for match in pattern.finditer(line)]
    return [_setting(match["name"], match.get("value"), path, number, by) for number, match in groups]


def _of_sysctl(root: str) -> Settings:
    """Return the settings in force of sysctl's files, one of each name.

    A boot reads /etc/sysctl.conf by a link in sysctl.d. Where none leads to it, `sysctl --system` reads it nevertheless.
    """
    paths = _applied(root, "sysctl.d")
    real = {os.path.realpath(os.path.join(root, path)) for path in paths}
    own = [] if os.path.realpath(os.path.join(root, "etc/sysctl.conf")) in real else ["etc/sysctl.conf"]
    found = [[one for path in part for one in _matches(SYSCTL, text_of(root, path), path)] for part in (paths, own)]
    return _last(found[0]) + _last(found[1])


def _applied(root: str, kind: str) -> List[str]:
    """Return the files of folders such as sysctl.d in the order in which they apply."""
    paths = {}  # type: Dict[str, str]
    for folder in FOLDERS:
        for name in names_in(root, f"{folder}/{kind}"):
            if name.endswith(".conf"):
                paths.setdefault(name, f"{folder}/{kind}/{name}")
    return [paths[name] for name in sorted(paths)]


def _last(settings: Settings) -> Settings:
    return list({setting["name"]: setting for setting in settings}.values())


def _writes(text: str, path: str, by: Optional[str]) -> Settings:
    """Return what the lines of a script or of a unit set. Variables that hold the path of a counter are put in."""
    for name, value in re.findall(r"(?:^|[\s;])(\w+)(?:=|\s+in\s+)[\"']?([^\s;\"']*nr_hugepages\w*)", text):
        text = re.sub(r"\$\{?" + name + r"\b\}?", value.replace("\\", r"\\"), text)
    lines = [re.sub(r"\s#[^\"']*$", "", line) for line in text.splitlines()]
    text = "\n".join(line if "huge" in line else "" for line in lines)
    return [setting for pattern in WRITERS for setting in _matches(pattern, text, path, by)]


def _run(root: str, text: str, path: str, by: Optional[str]) -> Settings:
    """Return what commands in a text set, also those in the scripts that they name."""
    settings = _writes(text, path, by)
    mentioned = re.findall(r"(?<![\w.])/([\w./+@-]+)", "\n".join(line for _number, line in _lines(text)))
    for script in dict.fromkeys(mentioned):
        if script != path and not script.startswith(("proc/", "sys/", "dev/")) and not script.endswith(DPDK_SCRIPT):
            settings += _writes(text_of(root, script), script, by)
    return settings


def _of_mounts(root: str, units: Units) -> Settings:
    """Return the page sizes that fstab and the unit of /dev/hugepages ask for."""
    settings = _matches(FSTAB, text_of(root, "etc/fstab"), "etc/fstab")
    for path, text in units.texts("dev-hugepages.mount").items():
        settings += _matches(UNIT_MOUNT, text, path)
    return [dict(setting, name=MOUNT) for setting in settings]


def _profiles(root: str) -> List[Tuple[str, str, str, str, int]]:
    """Return section, key, value, file and line of the active profiles of tuned, each after the profiles that it includes."""
    lines = []  # type: List[Tuple[str, str, str, str, int]]
    seen: Set[str] = set()

    def read(path: str) -> None:
        section = ""
        own = []  # type: List[Tuple[str, str, str, str, int]]
        seen.add(path)
        for number, line in _lines(text_of(root, path)):
            head, pair = re.match(r"^\s*\[([^\]]+)\]", line), re.match(r"^\s*([^=]+?)\s*=\s*(.*?)\s*$", line)
            section = head.group(1) if head else section
            if pair and pair.group(1) == "include":
                for name in re.split(r"[\s,]+", pair.group(2)):
                    profile(name.lstrip("-"))
            elif pair:
                own.append((section or "variables", pair.group(1), pair.group(2), path, number))
        lines.extend(own)

    def profile(name: str) -> None:
        paths = [name.lstrip("/")] if name.startswith("/") else [f"{folder}/{name}/tuned.conf" for folder in PROFILES]
        for path in [path for path in paths if os.path.isfile(os.path.join(root, path))][:1]:
            if path not in seen:
                read(path)

    for active in ("active_profile", "post_loaded_profile"):
        for name in text_of(root, f"etc/tuned/{active}").split():
            profile(name)
    return lines


def _of_tuned(root: str) -> Settings:
    """Return the settings of tuned's active profiles, the last of each name, and what they run."""
    lines = _profiles(root)
    kinds = {section: value for section, key, value, _path, _line in lines if key == "type"}
    off = {section: value.lower() in NO for section, key, value, _path, _line in lines if key == "enabled"}
    lines = [line for line in lines if not off.get(line[0])]
    known = {key: value for section, key, value, _path, _line in lines if section == "variables"}
    settings, scripts = [], []  # type: Settings, Settings
    for section, key, value, path, line in lines:
        kind, by = kinds.get(section, section), f"tuned profile {os.path.basename(os.path.dirname(path))}"
        value = re.sub(r"\$\{(\w+)\}", lambda match: known.get(match.group(1), match.group(0)), value)
        setting = _setting(key, value, path, line, by)
        if (kind == "sysctl" and setting["name"] in NAMES) or (kind == "sysfs" and re.search(COUNTER + "$", key)):
            settings.append(setting)
        elif kind == "bootloader" and key.startswith("cmdline"):
            settings += _pages_in(setting)
        elif kind == "script" and key == "script":
            script = value.replace("${i:PROFILE_DIR}", "/" + os.path.dirname(path)).lstrip("/")
            scripts += _run(root, text_of(root, script), script, by)
    return _last(settings) + scripts


def _pages_in(setting: Dict[str, Any]) -> Settings:
    """Return a setting of a kernel line as one of its arguments of hugepages, none where it has none."""
    pages = " ".join(word for word in re.split(r"[\s\"']+", setting["value"]) if word.startswith(PREFIXES))
    return [dict(setting, name=ARGUMENTS, value=pages)] if pages else []


def _of_kernel_lines(root: str) -> Settings:
    """Return the arguments that set sysctls, and variables with pages that the kernel line refers to."""
    texts = {path: text_of(root, path) for path in _matching(root, KERNEL_LINES)}
    grub = {path: text_of(root, path) for path in _matching(root, GRUB_FILES)}
    # Text of grub.cfg is generated from what was read already.
    kept = {path: text for path, text in grub.items() if path.endswith("grubenv")}
    settings = [one for path, text in {**texts, **kept}.items() for one in _matches(IN_KERNEL_LINE, text, path)]
    uses = "\n".join([*texts.values(), *re.findall(r"^\s*linux.*$", "\n".join(grub.values()), re.MULTILINE)])
    for path, text in grub.items():
        for setting in _matches(GRUB_VARIABLE, text, path):
            if re.search(r"\$\{?" + setting["name"] + r"\b", uses) and setting["name"] not in OWN_VARIABLES:
                settings += _pages_in(dict(setting, by="GRUB's variable " + setting["name"]))
    for setting in _matches(TUNED_ARGUMENTS, text_of(root, TUNED_FILE), TUNED_FILE, "tuned"):
        settings += _pages_in(setting)
    return settings


def other_settings(root: str) -> Settings:
    """Return the settings that give the running kernel hugepages after a boot, as name, value, file, line and who applies it.

    Of sysctl's files and of tuned's profiles only the last of each name is in force.
    """
    units = Units(root)
    settings = _of_sysctl(root) + (_of_tuned(root) if units.starts("tuned.service") else [])
    for name, path, text in units.commands():
        settings += _run(root, text, path, name)
    for path in _applied(root, "tmpfiles.d"):
        settings += _matches(TMPFILE, text_of(root, path), path)
    for path in _matching(root, SCRIPTS):
        settings += _run(root, text_of(root, path), path, None)
    settings += _matches(DPDK, text_of(root, DPDK_CONFIG), DPDK_CONFIG)
    settings += _of_mounts(root, units) + _of_kernel_lines(root)
    return list({(setting["name"], setting["file"], setting["line"]): setting for setting in settings}.values())

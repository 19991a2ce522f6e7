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

NAMES = ("vm.nr_hugepages", "vm.nr_hugepages_mempolicy")
# The first of them that holds a file of some name hides the others of that name.
FOLDERS = ("etc", "run", "usr/local/lib", "usr/lib", "lib")
UNITS = (
    *("etc/systemd/system.control", "run/systemd/system.control", "run/systemd/transient"),
    *("run/systemd/generator.early", "etc/systemd/system", "run/systemd/system", "run/systemd/generator"),
    *("usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system", "run/systemd/generator.late"),
)
PROFILES = ("etc/tuned", "etc/tuned/profiles", "usr/lib/tuned", "usr/lib/tuned/profiles")
SCRIPTS = (
    *("etc/rc.local", "etc/rc.d/rc.local", "etc/crontab", "etc/cron.d/*", "var/spool/cron/*"),
    *("var/spool/cron/crontabs/*", "var/lib/cloud/scripts/per-boot/*"),
    *("etc/udev/rules.d/*.rules", "usr/lib/udev/rules.d/*.rules", "etc/modprobe.d/*.conf", "etc/rc[35].d/S*"),
)
KERNEL_LINES = ("etc/default/grub", "etc/default/grub.d/*.cfg", "etc/kernel/cmdline", "boot/loader/entries/*.conf")
GRUB_FILES = ("boot/grub*/grubenv", "boot/efi/EFI/*/grubenv", "boot/grub*/*.cfg", "boot/efi/EFI/*/*.cfg")
# Variables of GRUB that hold the kernel line itself, which the module hugepages edits.
OWN_VARIABLES = ("kernelopts", "default_kernelopts")
# The start-up script of Debian's DPDK package writes what its configuration asks for, by default nothing.
DPDK_SCRIPT, DPDK_CONFIG = "dpdk-init", "etc/dpdk/dpdk.conf"
FSTAB = re.compile(r"^\S+\s+(?P<name>/dev/hugepages)/?\s+hugetlbfs\s+\S*\bpagesize=(?P<value>[^,\s]+)")
UNIT_MOUNT = re.compile(r"^(?P<name>Options)=\S*\bpagesize=(?P<value>[^,\s]+)")
GRUB_VARIABLE = re.compile(r"^(?:\s*set\s+)?(?P<name>\w+)=(?P<value>.*)$")
TUNED_FILE = "etc/tuned/bootcmdline"
TUNED_ARGUMENTS = re.compile(r"^\s*(?P<name>TUNED_BOOT_CMDLINE)=(?P<value>.*)$")
LARGEST = 1024**2  # bytes of a file that are read

COUNTER = r"nr_hugepages(?:_mempolicy)?\b"
IN_KERNEL_LINE = re.compile(r"(?:^|[\s\"'])sysctl[./](?P<name>vm[./]" + COUNTER + r")=(?P<value>[^\s\"']+)")
TMPFILE = re.compile(r"^\s*[wfF]\S*\s+(?P<name>\S*/" + COUNTER + r")(?:\s+\S+){4}\s+(?P<value>.*?)\s*$")
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
    re.compile(r"\b(?P<name>hugeadm\b.*--pool-pages-\w+|dpdk-hugepages\b.*(?:--setup|--reserve|-r))\W+(?P<value>\S+)"),
)


def _text(root: str, path: str) -> str:
    """Return the text of a file; empty for one that is missing, masked by a device, or a program."""
    full = os.path.join(root, path)
    try:
        if not os.path.isfile(full):
            return ""
        with open(full, "rb") as file:
            head = file.read(1024)
            return "" if b"\0" in head else (head + file.read(LARGEST)).decode("utf-8", "replace")
    except OSError:
        return ""


def _names(root: str, folder: str) -> List[str]:
    try:
        return sorted(os.listdir(os.path.join(root, folder)))
    except OSError:
        return []


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
    matches = [(number, pattern.search(line)) for number, line in _lines(text)]
    groups = [(number, match.groupdict()) for number, match in matches if match]
    return [_setting(match["name"], match.get("value"), path, number, by) for number, match in groups]


def _of_sysctl(root: str) -> Settings:
    """Return the settings in force of sysctl's files, one of each name."""
    paths = [*_applied(root, "sysctl.d"), "etc/sysctl.conf"]
    return _last([setting for path in paths for setting in _matches(SYSCTL, _text(root, path), path)])


def _applied(root: str, kind: str) -> List[str]:
    """Return the files of folders such as sysctl.d in the order in which they apply."""
    paths = {}  # type: Dict[str, str]
    for folder in FOLDERS:
        for name in _names(root, f"{folder}/{kind}"):
            if name.endswith(".conf"):
                paths.setdefault(name, f"{folder}/{kind}/{name}")
    return [paths[name] for name in sorted(paths)]


def _last(settings: Settings) -> Settings:
    return list({setting["name"]: setting for setting in settings}.values())


def _writes(text: str, path: str, by: Optional[str]) -> Settings:
    """Return what the lines of a script or of a unit set. Variables that hold the path of a counter are put in."""
    for name, value in re.findall(r"(?:^|[\s;])(\w+)(?:=|\s+in\s+)[\"']?([^\s;\"']*nr_hugepages\w*)", text):
        text = re.sub(r"\$\{?" + name + r"\b\}?", value.replace("\\", r"\\"), text)
    text = "\n".join(line if "huge" in line else "" for line in text.splitlines())
    return [setting for pattern in WRITERS for setting in _matches(pattern, text, path, by)]


def _run(root: str, text: str, path: str, by: Optional[str]) -> Settings:
    """Return what commands in a text set, also those in the scripts that they name."""
    settings = _writes(text, path, by)
    mentioned = re.findall(r"(?<![\w.])/([\w./+@-]+)", "\n".join(line for _number, line in _lines(text)))
    for script in dict.fromkeys(mentioned):
        if script != path and not script.startswith(("proc/", "sys/", "dev/")) and not script.endswith(DPDK_SCRIPT):
            settings += _writes(_text(root, script), script, by)
    return settings


class Units:
    """The units of systemd below a root."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.paths: Dict[str, str] = {}
        """Name -> the file in force."""
        self.drop_ins: Dict[str, List[str]] = {}
        self.started: Set[str] = set()
        """The units that a boot starts, or that the running system has started."""
        for folder in UNITS:
            for name in _names(root, folder):
                self._add(name, f"{folder}/{name}")
        self.started.update(name.replace("invocation:", "") for name in _names(root, "run/systemd/units"))
        self._follow()

    def _add(self, name: str, path: str) -> None:
        stem, _dot, kind = name.rpartition(".")
        if kind in ("wants", "requires"):
            self.started.update(_names(self.root, path))
        elif kind == "d":
            self.drop_ins.setdefault(stem, []).extend(f"{path}/{file}" for file in _names(self.root, path))
        else:
            self.paths.setdefault(name, path)

    def texts(self, name: str) -> Dict[str, str]:
        """Return the texts of a unit, or of its template, and of its drop-ins by path."""
        template = re.sub("@.*[.]", "@.", name)
        paths = [self.paths[unit] for unit in (name, template) if unit in self.paths][:1]
        paths += [path for unit in dict.fromkeys((name, template)) for path in self.drop_ins.get(unit, [])]
        return {path: _text(self.root, path) for path in paths}

    def _follow(self) -> None:
        """Add the units that started ones ask for."""
        waiting = sorted(self.started)
        while waiting:
            name = waiting.pop()
            stem, _dot, kind = name.rpartition(".")
            text = "\n".join(self.texts(name).values())
            wanted = " ".join(re.findall(r"^(?:Wants|Requires|BindsTo|Upholds|Unit)=(.*)$", text, re.MULTILINE)).split()
            wanted += [stem + ".service"] if kind in ("timer", "path", "socket") else []
            waiting += [unit for unit in dict.fromkeys(wanted) if unit not in self.started]
            self.started.update(wanted)

    def settings(self) -> Settings:
        """Return what the services that are started set."""
        services = sorted(name for name in self.started if name.endswith(".service"))
        texts = [(name, path, text) for name in services for path, text in self.texts(name).items()]
        return [setting for name, path, text in texts for setting in _run(self.root, text, path, name)]


def _of_mounts(root: str, units: Units) -> Settings:
    """Return the page sizes that fstab and the unit of /dev/hugepages ask for."""
    settings = _matches(FSTAB, _text(root, "etc/fstab"), "etc/fstab")
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
        for number, line in _lines(_text(root, path)):
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
        for name in _text(root, f"etc/tuned/{active}").split():
            profile(name)
    return lines


def _of_tuned(root: str) -> Settings:
    """Return the settings of tuned's active profiles, the last of each name, and what they run."""
    lines = _profiles(root)
    kinds = {section: value for section, key, value, _path, _line in lines if key == "type"}
    known = {key: value for section, key, value, _path, _line in lines if section == "variables"}
    settings, scripts = [], []  # type: Settings, Settings
    for section, key, value, path, line in lines:
        kind, by = kinds.get(section, section), f"tuned profile {os.path.basename(os.path.dirname(path))}"
        value = re.sub(r"\$\{(\w+)\}", lambda match: known.get(match.group(1), match.group(0)), value)
        setting = _setting(key, value, path, line, by)
        if (kind == "sysctl" and setting["name"] in NAMES) or (kind == "sysfs" and re.search(COUNTER + "$", key)):
            settings.append(setting)
        elif kind == "bootloader" and key.startswith("cmdline") and _arguments(value):
            settings.append(dict(setting, name=ARGUMENTS, value=_arguments(value)))
        elif kind == "script" and key == "script":
            script = value.replace("${i:PROFILE_DIR}", "/" + os.path.dirname(path)).lstrip("/")
            scripts += _run(root, _text(root, script), script, by)
    return _last(settings) + scripts


def _arguments(text: str) -> str:
    """Return the arguments of hugepages in a kernel line."""
    return " ".join(word for word in re.split(r"[\s\"']+", text) if word.startswith(PREFIXES))


def _of_kernel_lines(root: str) -> Settings:
    """Return the arguments that set sysctls, and variables with pages that the kernel line refers to."""
    texts = {path: _text(root, path) for path in _matching(root, KERNEL_LINES)}
    settings = [setting for path, text in texts.items() for setting in _matches(IN_KERNEL_LINE, text, path)]
    grub = {path: _text(root, path) for path in _matching(root, GRUB_FILES)}
    uses = "\n".join([*texts.values(), *re.findall(r"^\s*linux.*$", "\n".join(grub.values()), re.MULTILINE)])
    for path, text in grub.items():
        for setting in _matches(GRUB_VARIABLE, text, path):
            pages, used = _arguments(setting["value"]), re.search(r"\$\{?" + setting["name"] + r"\b", uses)
            if pages and used and setting["name"] not in OWN_VARIABLES:
                settings.append(dict(setting, name=ARGUMENTS, value=pages, by="GRUB's variable " + setting["name"]))
    for setting in _matches(TUNED_ARGUMENTS, _text(root, TUNED_FILE), TUNED_FILE, "tuned"):
        settings += (
            [dict(setting, name=ARGUMENTS, value=_arguments(setting["value"]))] if _arguments(setting["value"]) else []
        )
    return settings


def other_settings(root: str) -> Settings:
    """Return the settings that give the running kernel hugepages after a boot, as name, value, file, line and who applies it.

    Of sysctl's files and of tuned's profiles only the last of each name is in force.
    """
    units = Units(root)
    tuned_rests = "tuned.service" in units.paths and "tuned.service" not in units.started
    settings = _of_sysctl(root) + ([] if tuned_rests else _of_tuned(root)) + units.settings()
    for path in _applied(root, "tmpfiles.d"):
        settings += _matches(TMPFILE, _text(root, path), path)
    for path in _matching(root, SCRIPTS):
        settings += _run(root, _text(root, path), path, None)
    settings += _matches(DPDK, _text(root, DPDK_CONFIG), DPDK_CONFIG) + _of_mounts(root, units) + _of_kernel_lines(root)
    return list({(setting["name"], setting["file"], setting["line"]): setting for setting in settings}.values())

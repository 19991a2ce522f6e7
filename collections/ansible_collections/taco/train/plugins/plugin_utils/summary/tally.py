# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keep of the results of a playbook what a summary says of each host. Values in, values out."""

from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

OWN_ROLES = "taco.train."
REBOOT = "reboot"
# Returns the verdict that was written to a file, or None.
ReadVerdict = Callable[[str], Optional[Mapping[str, Any]]]


class Outcome(NamedTuple):
    """The outcome of a playbook on one host."""

    host: str
    changed: Tuple[str, ...] = ()
    pending: Tuple[str, ...] = ()
    verdict: str = ""
    failure: str = ""


def changed_by(task: str, role: Optional[str]) -> str:
    """The name of a change: the role (short for roles of this collection), or the task of a play without roles."""
    if not role:
        return task
    return role[len(OWN_ROLES) :] if role.startswith(OWN_ROLES) else role


def message(result: Mapping[str, Any]) -> str:
    """The reason of a failed task in one line: its first paragraph."""
    failed = [one for one in result.get("results") or [] if isinstance(one, Mapping) and one.get("failed")]
    if failed:
        return message(failed[0])
    said = [_paragraph(result.get(key)) for key in ("msg", "censored", "module_stderr", "stderr", "exception")]
    # A module that didn't even start says why on its own: no Python, no rights.
    if said[0] and said[2]:
        return f"{said[0]}: {said[2]}"
    return next((text for text in said if text), "no message")


def _paragraph(value: Any) -> str:
    # ansible-core 2.19 and newer hand on an exception as an object with its event.
    value = value.event.msg if hasattr(value, "event") else value
    text = "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return " ".join(text.strip().split("\n\n", maxsplit=1)[0].split())


def _reboot(result: Mapping[str, Any]) -> Optional[bool]:
    """Return whether the host needs a reboot by this result, or None when it says nothing of that."""
    if result.get("rebooted") is True:
        return False
    fact = (result.get("ansible_facts") or {}).get("taco_boot")
    for told in (fact.get("reboot_required") if isinstance(fact, Mapping) else None, result.get("reboot_required")):
        if told is not None:
            return told is True or str(told).lower() == "true"
    return None


def _said(checks: Sequence[Mapping[str, Any]]) -> str:
    """Return the worst status among checks and the names of those that have it."""
    for status in ("fail", "warn"):
        names = [check["id"] for check in checks if check["status"] == status]
        if names:
            return f"{status}: {', '.join(names)}"
    return "pass"


def verdicts(result: Mapping[str, Any], read: ReadVerdict) -> Dict[str, str]:
    """The verdict of each host as text. A failed result of taco.train.preflight lists the hosts only; the file has the checks."""
    if "failed_hosts" not in result or "verdict_path" not in result:
        return {}
    verdict = result.get("verdict") or (read(result["verdict_path"]) if result["verdict_path"] else None)
    if not verdict:
        return dict.fromkeys(result["failed_hosts"], "fail")
    return {name: _said([*host["checks"], *verdict["fleet"]]) for name, host in verdict["hosts"].items()}


class Tally:
    """What was seen so far, host by host."""

    def __init__(self, read: ReadVerdict) -> None:
        self._read = read
        self._changed: Dict[str, List[str]] = {}
        self._reboot: Dict[str, bool] = {}
        self._verdicts: Dict[str, str] = {}
        self._failures: Dict[str, str] = {}
        self._rescued: Dict[str, str] = {}
        self._reports: List[str] = []

    def take(self, host: str, task: str, role: Optional[str], result: Mapping[str, Any]) -> None:
        """Take in the result of a task on a host, one that failed as well."""
        if result.get("changed") is True:
            names = self._changed.setdefault(host, [])
            name = changed_by(task, role)
            names += [] if name in names else [name]
        reboot = _reboot(result)
        if reboot is not None:
            self._reboot[host] = reboot
        self._verdicts.update(verdicts(result, self._read))

    def fail(self, host: str, task: str, result: Mapping[str, Any]) -> None:
        """Record why a task failed, or that a host can't be reached. The first failure is the cause of those that follow."""
        text = message(result)
        # Hosts with the same failure share a line, which begins with their names.
        text = text[len(host) + 2 :] if text.startswith(f"{host}: ") else text
        self._failures.setdefault(host, f"{task}: {'unreachable: ' if result.get('unreachable') else ''}{text}")

    def rescue(self, host: str) -> None:
        """Record that a play rescues a host: its failures up to now are not the reason why it fails later."""
        if host in self._failures:
            self._rescued.setdefault(host, self._failures.pop(host))

    def report(self, path: str) -> None:
        """Record where a report was written. The latest one comes last."""
        self._reports = [one for one in self._reports if one != path] + [path]

    def reports(self) -> List[str]:
        """The paths of the reports."""
        return list(self._reports)

    def _failure(self, host: str) -> str:
        return self._failures.get(host) or self._rescued.get(host) or "failed"

    def outcomes(self, hosts: Sequence[str], failed: Sequence[str]) -> List[Outcome]:
        """The outcome of each host. A failure from which a play recovered is none."""
        return [
            Outcome(
                host,
                tuple(self._changed.get(host, ())),
                (REBOOT,) if self._reboot.get(host) else (),
                self._verdicts.get(host, ""),
                self._failure(host) if host in failed else "",
            )
            for host in hosts
        ]

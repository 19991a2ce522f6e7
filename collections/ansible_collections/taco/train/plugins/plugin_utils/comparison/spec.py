# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read what is to be compared: arms on one side; workloads, numbers of hosts and batch sizes on the other."""

import math
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.acceleration.arms import Arm, arms_of
from ansible_collections.taco.train.plugins.plugin_utils.decision.looks import LEAST_REPEATS, LOOKS
from ansible_collections.taco.train.plugins.plugin_utils.values import InvalidValueError
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS, completed

DEFAULT_REPEATS = 6
CONTROL = "control"
# With AUTO, cases get rounds until their verdicts are decided.
AUTO = "auto"
# What these workloads have no use for: it would only make names that mislead, and the same test several times over.
LABEL = re.compile(r"[A-Za-z0-9_.-]{1,40}")
KEYS = (
    *("arms", "baseline", "workloads", "node_counts", "batch_sizes", "repeats", "warmup_runs", "single_device"),
    *("budget_minutes", "control"),
)


class ComparisonError(InvalidValueError):
    """What is to be compared can't be; the text names the variable."""


class Case(NamedTuple):
    """What is alike for all arms that are compared with each other."""

    id: str
    workload: str
    options: Dict[str, Any]  # of the action benchmark, with model and batch_size among them
    hosts: Tuple[Tuple[str, int], ...]  # (name, slots)

    @property
    def name(self) -> Optional[str]:
        """The name that it was given, None without one."""
        label = self.id.split("/")[0]
        return label if label != self.workload else None

    @property
    def ranks(self) -> int:
        return sum(slots for _name, slots in self.hosts)


class Comparison(NamedTuple):
    """Everything that a comparison consists of."""

    arms: Tuple[Arm, ...]
    baseline: str
    cases: Tuple[Case, ...]
    repeats: int
    """The most rounds of a case; with auto, that of the last look."""
    warmup_runs: int
    auto: bool = False
    budget_minutes: Optional[float] = None
    rounds: Mapping[str, int] = {}
    """The rounds of each case, by its id; those that are not in it have all repeats."""
    control: Optional[Arm] = None
    """The arm that is the baseline again, the last of the arms; None without one."""

    def rounds_of(self, case: Case) -> int:
        return self.rounds.get(case.id, self.repeats)


def _whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not str(value).strip().isdecimal() or int(value) < least:
        raise ComparisonError(f"compare_{name} is {value!r}; it must be a whole number, {least} or more.")
    return int(value)


def repeats_of(value: Any) -> Tuple[int, bool]:
    """The most rounds of a case, and whether they end earlier where everything is decided."""
    if value == AUTO:
        return LOOKS[-1], True
    try:
        return _whole(value, "repeats", LEAST_REPEATS), False
    except ComparisonError as error:
        raise ComparisonError(f"{str(error)[:-1]}, or {AUTO}.") from error


def _budget(value: Any, auto: bool) -> Optional[float]:
    if value in (None, ""):
        return None
    try:
        minutes = float(value)
    except (TypeError, ValueError):
        minutes = math.nan
    if isinstance(value, bool) or not 0 < minutes < math.inf:
        raise ComparisonError(f"compare_budget_minutes is {value!r}; it must be a number above 0.")
    if not auto:
        raise ComparisonError(f"compare_budget_minutes needs compare_repeats: {AUTO}: set that, or unset the budget.")
    return minutes


def _arms(values: Any) -> Tuple[Arm, ...]:
    try:
        return tuple(arms_of(values, "compare_arms"))
    except InvalidValueError as error:
        raise ComparisonError(str(error)) from error


def _control(wanted: Any, arms: Sequence[Arm], baseline: str) -> Optional[Arm]:
    """Return the control: the baseline again, measured in each round beside it (an A/A test)."""
    if not wanted:
        return None
    if CONTROL in [arm.name for arm in arms]:
        raise ComparisonError(
            f"compare_arms has an arm {CONTROL}, the name of the arm that compare_control adds: rename yours."
        )
    label = f"{baseline} again, as the control"
    return next(arm for arm in arms if arm.name == baseline)._replace(name=CONTROL, label=label)


def _hosts(hosts: Sequence[Dict[str, Any]], count: Any) -> Tuple[Tuple[str, int], ...]:
    number = _whole(count, "node_counts", 1)
    if number > len(hosts):
        raise ComparisonError(
            f"compare_node_counts has {number}, and the play has {len(hosts)} hosts: lower it, or add hosts."
        )
    return tuple((str(host["name"]), int(host["slots"])) for host in hosts[:number])


def shape(hosts: Sequence[Tuple[str, int]]) -> str:
    """Return nodes and slots as in 2x8, or the slots one by one where they differ."""
    slots = [count for _name, count in hosts]
    return f"{len(slots)}x{slots[0]}" if len(set(slots)) == 1 else "+".join(map(str, slots))


def _case(
    workload: Dict[str, Any], batch_size: Any, hosts: Tuple[Tuple[str, int], ...], defaults: Dict[str, Any]
) -> Case:
    options = dict(defaults, **workload)
    label = str(options.pop("name", None) or options.get("workload"))
    if not LABEL.fullmatch(label):
        raise ComparisonError(
            f"{label!r} can't be the name of one of compare_workloads: use letters, digits, _, . and -."
        )
    if batch_size is not None:
        options["batch_size"] = batch_size
    options = completed(options)
    if options.get("batch_size") is not None:
        options["batch_size"] = _whole(options["batch_size"], "batch_sizes", 1)
    parts = [label, str(options.get("model") or "-"), shape(hosts), str(options.get("batch_size") or "-")]
    return Case("/".join(parts), str(options.get("workload")), options, hosts)


def _sizes(value: Dict[str, Any], hosts: Sequence[Dict[str, Any]], workload: str) -> List[Tuple[Tuple[str, int], ...]]:
    sizes = [_hosts(hosts, count) for count in dict.fromkeys(value.get("node_counts") or [len(hosts)])]
    single = ((str(hosts[0]["name"]), 1),)
    if workload in WORKLOADS and WORKLOADS[workload].mpi is False:
        # One process, however many hosts there are.
        return [single]
    # One device has no bus to measure.
    wanted = value.get("single_device") and workload != "nccl_tests" and single not in sizes
    return ([single] if wanted else []) + sizes


def _require_effect(value: Dict[str, Any], names: Sequence[str]) -> None:
    """Refuse an option that would change no case, whatever its value is. names are those of the workloads."""
    kinds = [WORKLOADS[name] for name in names if name in WORKLOADS]
    without_effect = {
        "batch_sizes": all("batch_size" not in kind.options for kind in kinds),
        "node_counts": all(kind.mpi is False for kind in kinds),
        "single_device": all(kind.mpi is False or name == "nccl_tests" for name, kind in zip(names, kinds)),
    }
    useless = [name for name, is_useless in without_effect.items() if is_useless and value.get(name)]
    if useless and len(kinds) == len(names):
        raise ComparisonError(
            f"compare_{useless[0]} has no effect on workload {' and '.join(dict.fromkeys(names))}: leave it out, or compare another "
            "workload."
        )


def _batch_sizes(value: Dict[str, Any], workload: Dict[str, Any], kind: str) -> List[Any]:
    reads_it = kind not in WORKLOADS or "batch_size" in WORKLOADS[kind].options
    given = value.get("batch_sizes") if reads_it else []
    return list(dict.fromkeys(given)) if given else [workload.get("batch_size")]


def _require_hosts(hosts: Sequence[Dict[str, Any]]) -> None:
    """Raise without hosts, or for one whose number of slots is not known."""
    if not hosts:
        raise ComparisonError("A comparison needs hosts, and the play has none: set taco_hosts or benchmark_hosts.")
    bad = [host.get("name") for host in hosts if not str(host.get("slots") or "").isdecimal() or int(host["slots"]) < 1]
    if bad:
        raise ComparisonError(f"{bad[0]} has no number of slots: set taco_gpus_per_node, or slots in benchmark_hosts.")


def _workloads(value: Dict[str, Any], defaults: Dict[str, Any]) -> Sequence[Dict[str, Any]]:
    """The workloads of a specification, each of options that a run has."""
    workloads = value.get("workloads") or [{}]
    if not isinstance(workloads, (list, tuple)) or not all(isinstance(one, dict) for one in workloads):
        raise ComparisonError("compare_workloads is a list of mappings, such as [{model: ResNet50}, {model: VGG16}].")
    strange = sorted({str(name) for one in workloads for name in one} - set(defaults) - {"name"})
    if strange:
        raise ComparisonError(
            f"compare_workloads has {strange[0]}, which no run has as an option; it has {', '.join(sorted(defaults))}."
        )
    return workloads


def _cases(value: Dict[str, Any], hosts: Sequence[Dict[str, Any]], defaults: Dict[str, Any]) -> Tuple[Case, ...]:
    """The cases of every workload, number of hosts and batch size, each of its own name."""
    workloads = _workloads(value, defaults)
    _require_effect(value, [str(workload.get("workload") or defaults.get("workload")) for workload in workloads])
    cases = [
        _case(workload, batch_size, size, defaults)
        for workload in workloads
        for kind in [str(workload.get("workload") or defaults.get("workload"))]
        for size in _sizes(value, hosts, kind)
        for batch_size in _batch_sizes(value, workload, kind)
    ]
    identities = [case.id for case in cases]
    twice = sorted({identity for identity in identities if identities.count(identity) > 1})
    if twice:
        raise ComparisonError(f"Two of compare_workloads would both be called {twice[0]}: give each a name.")
    return tuple(cases)


def read(value: Dict[str, Any], hosts: Sequence[Dict[str, Any]], defaults: Dict[str, Any]) -> Comparison:
    """Return the comparison that a specification asks for on hosts, each {name, slots}; defaults are a run's options.

    Raises ComparisonError for everything that can be known to be wrong before the first run.
    """
    unknown = sorted(set(value) - set(KEYS))
    if unknown:
        raise ComparisonError(f"A comparison has no {unknown[0]}; it has {', '.join(KEYS)}.")
    _require_hosts(hosts)
    arms = _arms(value.get("arms"))
    baseline = str(value.get("baseline") or arms[0].name)
    if baseline not in [arm.name for arm in arms]:
        raise ComparisonError(
            f"compare_baseline is {baseline}, which is not one of compare_arms: {', '.join(arm.name for arm in arms)}."
        )
    cases = _cases(value, hosts, defaults)
    repeats, auto = repeats_of(value.get("repeats", DEFAULT_REPEATS))
    warmup_runs = _whole(value.get("warmup_runs", 1), "warmup_runs", 0)
    budget = _budget(value.get("budget_minutes"), auto)
    control = _control(value.get("control"), arms, baseline)
    arms = (*arms, control) if control else arms
    return Comparison(arms, baseline, cases, repeats, warmup_runs, auto, budget, control=control)

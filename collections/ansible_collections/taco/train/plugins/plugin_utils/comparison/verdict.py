# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turn what the rounds of a comparison say into verdicts: with all comparisons of the report, all looks and all failures in view."""

from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison import statistics
from ansible_collections.taco.train.plugins.plugin_utils.comparison.sentences import failures, lies, relation
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import Comparison
from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import UNDECIDED
from ansible_collections.taco.train.plugins.plugin_utils.decision.looks import LEAST_REPEATS, share
from ansible_collections.taco.train.plugins.plugin_utils.text import counted

# An arm of which a larger share of the attempts failed has good runs that are a selection.
MOST_FAILED = 0.2
# Spreads of the runs of an arm (standard deviation), to name what a plan can detect.
SPREADS = (0.01, 0.02, 0.05)


class Side(NamedTuple):
    """What an arm measured in a case: a value for each round, and its attempts with those that failed."""

    name: str
    values: Mapping[int, float]
    failed: int = 0
    attempts: int = 0

    @property
    def tried(self) -> Tuple[str, int, int]:
        return self.name, self.failed, self.attempts

    @property
    def often_failed(self) -> bool:
        return self.attempts > 0 and self.failed / self.attempts > MOST_FAILED


class Limits(NamedTuple):
    """The limits of a verdict: least effect, confidence, and the number of verdicts on this data up to now, with this one."""

    min_effect: float = 0.03
    confidence: float = 0.95
    look: int = 1

    def spent(self, further: int = 0) -> float:
        """Return the share of the error rate that this look, or a further one, has."""
        return share(self.look + further)


class Judgement(NamedTuple):
    """How an arm did against the baseline. A ratio of 1.5 means half as much again, whatever the unit."""

    verdict: str  # better, worse, equivalent or inconclusive
    ratio: Optional[float]
    low: Optional[float]
    high: Optional[float]
    p: Optional[float]
    more_repeats: Optional[int]  # 0 when settled, None when more runs can't be expected to settle it
    reason: str
    chance: Optional[float] = None  # of a verdict after so many more repeats


def _selected(word: str, arm: Side, baseline: Side) -> Optional[Side]:
    """Return the arm whose failures forbid a verdict: good runs of an arm that often fails are a selection."""
    if arm.often_failed and word in ("better", "equivalent"):
        return arm
    return baseline if baseline.often_failed and word in ("worse", "equivalent") else None


def _few(arm: Side, baseline: Side, found: Optional[statistics.Evidence], rounds: int) -> Judgement:
    more = LEAST_REPEATS - rounds
    if found is None:
        lacking = [side.name for side in (arm, baseline) if not side.values]
        reason = f"No run of {lacking[0]} gave a number." if lacking else "No round has a good run of both arms."
        return Judgement("inconclusive", None, None, None, None, more, reason)
    reason = (
        f"{counted(rounds, 'round')} with a good run of both arms are too few for a verdict; it takes {LEAST_REPEATS}."
    )
    return Judgement("inconclusive", found.ratio, found.low, found.high, None, more, reason)


def _corrections(limits: Limits, family: int) -> str:
    look = f"verdict number {limits.look} on these runs"
    return f"{family} comparisons and for {look}" if family > 1 else look


def _reason(found: statistics.Evidence, word: str, limits: Limits, p: float, family: int) -> str:
    low, high, least = found.low or 0.0, found.high or 0.0, limits.min_effect
    shown = f"The {limits.confidence:.0%} interval {low:.3f} to {high:.3f} {lies(word, low, high, least)}"
    if word != "inconclusive":
        return f"{shown}; p is {p:.2g}."
    if relation(low, high, least) == UNDECIDED:
        return f"{shown}."
    return f"{shown}, but p is {p:.2g} after the correction for {_corrections(limits, family)}."


def _judged(
    arm: Side,
    baseline: Side,
    differences: List[float],
    found: Optional[statistics.Evidence],
    limits: Limits,
    p: Optional[float],
    family: int,
) -> Judgement:
    if found is None or p is None or len(differences) < LEAST_REPEATS:
        return _few(arm, baseline, found, len(differences))
    level = 1 - limits.confidence
    word = found.verdict if p < level else "inconclusive"
    reason = _reason(found, word, limits, p, family)
    ends = (found.ratio, found.low, found.high, p)
    chosen = _selected(word, arm, baseline)
    if chosen:
        reason = (
            f"{failures([chosen.tried])}. Its successful runs may not be representative, so {arm.name} is not judged {word}: fix the "
            f"failures first. {reason}"
        )
        return Judgement("inconclusive", *ends, None, reason)
    failed = failures([arm.tried, baseline.tried])
    reason += f" {failed}." if failed else ""
    if word != "inconclusive":
        return Judgement(word, *ends, 0, reason)
    more, chance = statistics.repeats_to_settle(differences, limits.min_effect, level * limits.spent(1) / family)
    return Judgement(word, *ends, more, reason, chance)


def detectable_text(comparison: Comparison, min_effect: float, confidence: float) -> str:
    """Return the smallest difference that a plan detects, for several spreads of the runs of an arm; known before the first run."""
    count = len(comparison.cases) * (len(comparison.arms) - 1)
    level = (1 - confidence) * share(1) / count
    found = [
        f"{100 * statistics.detectable(noise, comparison.repeats, min_effect, level):.1f}% at {noise:.0%}"
        for noise in SPREADS
    ]
    return (
        f"{comparison.repeats} repeats detect, with a chance of {statistics.CHANCE:.0%}, a difference of {', '.join(found)} of spread "
        "between the runs of an arm"
    )


def judge(pairs: Sequence[Tuple[Side, Side]], limits: Limits, higher_is_better: Sequence[bool] = ()) -> List[Judgement]:
    """Return the verdict of each pair (arm, baseline) of sides, all of one report.

    better and worse need the ratio to be beyond the least effect, equivalent within it, each with a p value below 1 - confidence
    after Holm's correction for all pairs and after that for the number of looks. All values must be above 0; where less is better,
    the ratio is that of the inverses, so that more than 1 always means better.
    """
    directions = list(higher_is_better) or [True] * len(pairs)
    differences = [
        statistics.log_ratios(arm.values, baseline.values, higher) for (arm, baseline), higher in zip(pairs, directions)
    ]
    found = [statistics.evidence(difference, limits.min_effect, limits.confidence) for difference in differences]
    usable = [one.p if one and len(rounds) >= LEAST_REPEATS else None for one, rounds in zip(found, differences)]
    corrected, spent = statistics.holm(usable), limits.spent()
    return [
        _judged(arm, baseline, one, evidence, limits, None if p is None else min(1.0, p / spent), len(pairs))
        for (arm, baseline), one, evidence, p in zip(pairs, differences, found, corrected)
    ]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Comparisons by name: what to compare where the user has set nothing else. Values in, values out.

taco_vs_horovod is the comparison of the vendor's documents for TKE: TACO against upstream Horovod on models with ever more
parameters. Its batch size is that of their command, which is for VGG16 and the only one that they have. Their fourth model,
Transformer-XL, is no model of Horovod's script, and they don't have its program. embedding is that of the chapter on TTF,
with the batch size there; mixed_precision and xla are its switches.
"""

from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import ComparisonError

DOCUMENTED_BATCH_SIZE = 128
DOCUMENTED_MODELS = ("InceptionV3", "ResNet101", "VGG16")
DEMO_BATCH_SIZE = 16384


class Preset(NamedTuple):
    """What a comparison by that name consists of."""

    arms: Tuple[Any, ...]
    """The arms as in compare_arms; the first is the baseline."""
    workloads: Tuple[Mapping[str, Any], ...] = ()
    """As in compare_workloads; empty for the workload that benchmark_* describe."""


def name_of(arm: Any) -> str:
    """Return the name of an arm that is given by its name or as a mapping."""
    return str(arm if isinstance(arm, str) else arm["name"])


def _switched(off: str, on: str, option: str, what: Tuple[str, str]) -> Tuple[Dict[str, Any], ...]:
    return (
        {"name": off, "label": f"the image as it is, {what[0]}", "options": {option: False}},
        {"name": on, "label": f"the image as it is, {what[1]}", "options": {option: True}},
    )


PRESETS = {
    "taco_vs_horovod": Preset(
        ("horovod", "taco"),
        tuple(
            {"workload": "horovod_synthetic", "model": model, "batch_size": DOCUMENTED_BATCH_SIZE}
            for model in DOCUMENTED_MODELS
        ),
    ),
    "embedding": Preset(
        _switched("static", "dynamic", "is_dynamic", ("static embedding", "dynamic embedding")),
        ({"workload": "ttf_dynamic_embedding", "batch_size": DEMO_BATCH_SIZE},),
    ),
    "mixed_precision": Preset(
        _switched("full", "mixed", "mixed_precision", ("without mixed precision", "with mixed precision"))
    ),
    "xla": Preset(_switched("no_xla", "xla", "xla", ("without XLA", "with XLA"))),
}


def _baseline(name: str, preset: Preset, given: Any) -> str:
    """Return the baseline that the user has set, if it is one of the preset's arms, or the preset's."""
    names = [name_of(arm) for arm in preset.arms]
    if given and given not in names:
        raise ComparisonError(
            f"compare_baseline is {given}, and compare_preset {name} has the arms {', '.join(names)}: unset compare_baseline, or set "
            "compare_arms too."
        )
    return given or names[0]


def with_preset(name: Optional[str], given: Mapping[str, Any], batch_size: Optional[int] = None) -> Dict[str, Any]:
    """The options of the comparison, with the values of a preset for missing ones.

    given are the variables compare_* without the prefix, batch_size is benchmark_options.batch_size. An empty name changes nothing.
    """
    found = dict(given)
    if not name:
        return found
    if name not in PRESETS:
        raise ComparisonError(f"compare_preset is {name!r}; it must be one of {', '.join(PRESETS)}.")
    preset = PRESETS[name]
    if not found.get("arms"):
        found["arms"] = list(preset.arms)
        found["baseline"] = _baseline(name, preset, found.get("baseline"))
    if not found.get("workloads"):
        left_out = {"batch_size"} if batch_size else set()
        found["workloads"] = [
            {key: value for key, value in workload.items() if key not in left_out} for workload in preset.workloads
        ]
    return found

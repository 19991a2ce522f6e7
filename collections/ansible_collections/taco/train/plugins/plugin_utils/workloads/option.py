# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The declaration of an option of a run, and the options that several workloads share."""

from typing import Any, Dict, NamedTuple, Optional, Sequence


class Option(NamedTuple):
    """One option of a run."""

    type: str
    """A type of an argument_spec; "list" is a list of texts."""
    description: str
    default: Any = None
    """None leaves the value to the program, or means that there is none."""
    choices: Sequence[str] = ()
    words: Optional[str] = None
    """The option in words, for reports; None for its name."""
    affects_value: bool = True
    """Whether the option can change the value of a run. If so, compared runs must agree in it."""

    @property
    def spec(self) -> Dict[str, Any]:
        """The argument_spec without the default, which depends on the workload."""
        spec: Dict[str, Any] = {"type": self.type}
        if self.type == "list":
            spec["elements"] = "str"
        if self.choices:
            spec["choices"] = list(self.choices)
        return spec


# The options that a run of every workload has: variables benchmark_* of the role.
COMMON = {
    "interface": Option(
        "str", "The network interface for MPI's own traffic.", "eth0", words="network interface of MPI"
    ),
    "lightcc": Option("dict", "LightCC's options.", {}, words="LightCC's options beside the arm's"),
    "env": Option("dict", "Environment variables of the ranks.", {}, words="environment beside the arm's"),
    "mca": Option("dict", "Parameters of Open MPI's components.", {}, words="MCA parameters"),
    "device": Option("str", "The device that the benchmark must report.", "GPU", ("GPU", "CPU")),
    "timeout": Option("int", "Time limit of the run in seconds.", 1800, affects_value=False),
}

EXTRA_ARGS = {"extra_args": Option("list", "Additional arguments of the program.", [], words="arguments of the script")}
TENSORFLOW = {
    "mixed_precision": Option(
        "bool",
        "Whether TensorFlow uses mixed precision (``TF_ENABLE_AUTO_MIXED_PRECISION``).",
        False,
        words="mixed precision",
    ),
    "xla": Option("bool", "Whether TensorFlow compiles with XLA (``TF_XLA_FLAGS``).", False, words="XLA"),
}
SCRIPT = {
    "script": Option(
        "str",
        "The script. A URL, or a file on the controller, is copied to every worker before the first run; a relative path is "
        "searched in the folder of the playbook and in ``files`` beside it. Any other absolute path is a path in the training "
        "image. The record of a run contains the path or URL, so it must not contain a secret.",
        words="script",
    ),
    "script_checksum": Option(
        "str",
        "The required checksum of ``script``, as ``sha256:`` and the output of ``sha256sum``. Required for a URL; ``none`` runs "
        "the downloaded script unverified.",
        affects_value=False,
    ),
}
ITERATIONS = {
    "num_warmup_batches": Option("int", "Batches before the first iteration.", 10, words="number of warm-up batches"),
    "num_batches_per_iter": Option("int", "Batches of each iteration.", 10, words="batches of an iteration"),
    "num_iters": Option("int", "Number of measured iterations.", 10, words="number of iterations"),
}
# How the numbers of a program are found in its output.
PATTERNS = {
    "pattern": Option(
        "str", "A regular expression for the lines of iterations; its group ``value`` is the number of an iteration."
    ),
    "total_pattern": Option(
        "str", "A regular expression for the value of the run. Not set means the median of the iterations."
    ),
    "unit": Option("str", "The unit of the numbers of ``pattern``."),
    "higher_is_better": Option("bool", "Whether a higher value is better.", True),
}


def batch_size(default: Optional[int], unset: str = "") -> Dict[str, Option]:
    """The batch size of each device, with its default or what a missing one means."""
    text = "Batch size of each device." + (f" Not set means {unset}." if unset else "")
    return {"batch_size": Option("int", text, default, words="batch size")}


def variable_of(name: str) -> str:
    """The variable that sets an option."""
    return f"benchmark_{name}" if name in COMMON else f"benchmark_options.{name}"


def with_defaults(declared: Dict[str, Option], options: Any) -> Dict[str, Any]:
    """Return options with the default of each declared option that is missing or null."""
    missing = {name: option.default for name, option in declared.items() if options.get(name) is None}
    return dict(options, **missing)

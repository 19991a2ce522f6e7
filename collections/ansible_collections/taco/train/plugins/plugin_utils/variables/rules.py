# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the value of a variable must be, beyond its type. Where a later step has such a rule, it is that step's function."""

import ipaddress
import math
import re
from typing import Any, Callable, Dict, NamedTuple, Sequence

from ansible_collections.taco.train.plugins.module_utils._boot.hugepages import HugepagesError, require_fraction
from ansible_collections.taco.train.plugins.module_utils._harp.harp import HarpError, minimum_files
from ansible_collections.taco.train.plugins.module_utils._node.enis import EniError, find_enis, network_of
from ansible_collections.taco.train.plugins.plugin_utils.acceleration import arms
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.lightcc import LightccError, options_to_env
from ansible_collections.taco.train.plugins.plugin_utils.acceleration.mpirun import (
    ENV_NAME,
    MCA_NAME,
    MpirunError,
    read_hosts,
)
from ansible_collections.taco.train.plugins.plugin_utils.comparison.presets import PRESETS
from ansible_collections.taco.train.plugins.plugin_utils.comparison.spec import (
    AUTO,
    LABEL,
    ComparisonError,
    repeats_of,
)
from ansible_collections.taco.train.plugins.plugin_utils.container import spec
from ansible_collections.taco.train.plugins.plugin_utils.decision.looks import LEAST_REPEATS
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.resources import MpijobError, amount
from ansible_collections.taco.train.plugins.plugin_utils.mpijob.names import VERSIONS, require_names
from ansible_collections.taco.train.plugins.plugin_utils.reboot import rolling
from ansible_collections.taco.train.plugins.plugin_utils.values import IMAGE, SHA256, is_placeholder
from ansible_collections.taco.train.plugins.plugin_utils.workloads.workload import WorkloadError

# Raised by the functions of later steps for a value that they refuse.
REFUSED = (
    ArithmeticError,
    AttributeError,
    ComparisonError,
    EniError,
    HarpError,
    HugepagesError,
    LightccError,
    MpijobError,
    MpirunError,
    TypeError,
    ValueError,
    WorkloadError,
    arms.ArmError,
    rolling.RollingError,
    spec.SpecError,
)


class Rule(NamedTuple):
    """What a value must be, in words and as a function that returns whether it is, or raises."""

    kind: str
    expected: str
    accepts: Callable[[Any], Any]
    parses: bool = False
    """Whether accepts returns the value that the groups of variables get, and its error says how to correct it."""

    def refuses(self, value: Any) -> bool:
        try:
            return self.accepts(value) is False
        except REFUSED:
            return True


def _text(pattern: str) -> Callable[[Any], bool]:
    compiled = re.compile(pattern)
    return lambda value: compiled.fullmatch(str(value)) is not None


def _each(rule: Rule, expected: str) -> Rule:
    return Rule(f"list of {rule.kind}", expected, lambda values: not any(rule.refuses(value) for value in values))


def at_least(least: int) -> Rule:
    expected = f"{least} or more"
    return Rule(f"at least {least}", expected, lambda value: math.isfinite(value) and value >= least)


def one_of(words: Sequence[str]) -> Rule:
    return Rule("word", "one of " + ", ".join(words), lambda value: value in words)


def is_words(value: Any) -> bool:
    return bool(value) and all(arms.is_word(word) and str(word) for word in value)


def names_match(pattern: Any) -> Callable[[Any], bool]:
    return lambda value: all(isinstance(name, str) and pattern.fullmatch(name) for name in value)


def arm(variable: str) -> Rule:
    return Rule("arm", "an arm", lambda value: arms.arm_of(value, variable), parses=True)


SOME = at_least(1)
# The number of a large cluster's nodes; each worker is looked at.
WORKERS = Rule("workers", "1 to 10000", lambda value: 1 <= value <= 10000)
PORT = Rule("port", "a port from 1 to 65535", lambda value: 1 <= value <= 65535)
SHARE = Rule("share", "more than 0 and at most 1", require_fraction)
INNER_SHARE = Rule("inner share", "above 0 and below 1", lambda value: 0 < value < 1)
ABOVE_ZERO = Rule("above zero", "a number above 0", lambda value: math.isfinite(value) and value > 0)
ABSOLUTE = Rule("absolute path", "an absolute path such as /var/lib/taco-train", _text(r"/(?!\Z)[^\n]*"))
# yum takes a mirror on a disk, too.
REPOSITORY = Rule("URL", "a URL that begins with https://, http:// or file://", _text(r"(?i:https?|file)://\S+"))
SCRIPT = Rule(
    "URL or path",
    "a path, or a URL that begins with https:// or http://",
    _text(r"(?i:https?)://\S+|(?!.*://)[^\n]*\S[^\n]*"),
)
METADATA = Rule("URL or word", "off, auto, or a URL", _text(r"off|auto|(?i:https?)://\S+"))
INTERFACE = Rule("interface", "the name of a network interface", _text(r"[^\s/,:-][^\s/:]*"))
INTERFACES = Rule("interface", "names of network interfaces, or subnets", _text(r"[^\s,-][^\s]*"))
CONTAINER = Rule(
    "container", "letters, digits, _, . and -, a letter or digit first", _text(r"[A-Za-z0-9][A-Za-z0-9_.-]+")
)
IMAGE_NAME = Rule("image", "registry/name:tag or name@sha256:...", lambda value: IMAGE.match(str(value)) is not None)
PATTERN = Rule("regular expression", "a regular expression", lambda value: find_enis([], str(value)))
NETWORK = Rule("network", "a network such as 10.0.1.0/24", network_of)
ADDRESS = Rule("address", "an IP address such as 10.0.1.8", lambda value: ipaddress.ip_address(str(value)))
NAMESPACE = Rule("namespace", "small letters, digits and dashes", lambda value: require_names("job", 1, str(value)))
JOB = Rule("job", "small letters, digits and dashes, a letter first", lambda value: require_names(str(value), 1))
QUANTITY = Rule("amount", "an amount such as 100Gi or 8, above 0", lambda value: amount(value, "it") > 0)
SIZE = Rule("size", "a size such as 32g", lambda value: spec.size_bytes(str(value)))
ULIMIT = Rule("ulimit", "name=value or name=soft:hard, as in memlock=-1", lambda value: spec.check_ulimit(str(value)))
MOUNT = Rule("mount", "source:target or source:target:options", lambda value: spec.split_mount(str(value)))
LABELLED = Rule("label", "1 to 40 letters, digits, _, . and -", lambda value: LABEL.fullmatch(str(value)) is not None)
WORD = Rule("argument", "a text that doesn't begin with a dash", _text(r"[^-\s].*"))
WORDS = Rule("words", "a list of texts, none of them empty", is_words)
TEXTS = Rule("texts", "a list without empty texts", lambda value: all(str(item).strip() for item in value))
COMMANDS = _each(WORDS, "a list of commands, each a list of words")
ENVIRONMENT = Rule("environment", "a mapping whose keys are names of environment variables", names_match(ENV_NAME))
PARAMETERS = Rule("parameters", "a mapping whose keys are names of MCA parameters", names_match(MCA_NAME))
ARMS = Rule("arms", "a list of two or more different arms", arms.arms_of, parses=True)
HOSTS = Rule("hosts", "a list of mappings with name and slots", lambda value: not value or bool(read_hosts(value)))
LIGHTCC = Rule("LightCC", "a mapping of LightCC's options", options_to_env)
GPUS = Rule("GPUs", "all, none, or a list of indexes or UUIDs", spec.read_gpus)
BATCH = Rule(
    "batch", "a number of hosts, 1 or more, or a percentage such as 25%", lambda value: rolling.plan([], value, 0, 1)
)
FAILURES = Rule(
    "failures", "a number of hosts or a percentage such as 25%", lambda value: rolling.plan([], 1, value, 1)
)
CONFIG_FILES = Rule(
    "number of files", "a number of files, 1 or more, or per_eni", lambda value: minimum_files(value, 1) > 0
)
SHA256_OF_FILE = Rule(
    "SHA-256",
    "64 hexadecimal digits, the output of sha256sum",
    lambda value: SHA256.match(str(value).strip()) is not None and not is_placeholder(str(value).strip().lower()),
)
REPEATS = Rule("repeats", f"a number, {LEAST_REPEATS} or more, or {AUTO}", repeats_of)
PLAN_FILE = Rule("plan file", "a path that doesn't end with .html", _text(r"(?!.*\.html\Z)[^\n]*[^\n/]"))
CONFIG_FILE = Rule("file name", "ztcp*.conf without a folder, such as ztcp{index}.conf", _text(r"ztcp[^/\s]*\.conf"))

RULES: Dict[str, Rule] = {
    "taco_kube_namespace": NAMESPACE,
    "taco_interface": INTERFACE,
    "taco_image": IMAGE_NAME,
    "taco_container_name": CONTAINER,
    "taco_ssh_port": PORT,
    "taco_state_dir": ABSOLUTE,
    "taco_gpus_per_node": SOME,
    "eni_pattern": PATTERN,
    "eni_subnets": _each(NETWORK, "networks such as 10.0.1.0/24"),
    "harp_script": SCRIPT,
    "harp_interpreter": TEXTS,
    "harp_environment": ENVIRONMENT,
    "harp_timeout": SOME,
    "harp_template_dest": CONFIG_FILE,
    "harp_expected_text": TEXTS,
    "harp_minimum_files": CONFIG_FILES,
    "hugepages_max_memory_fraction": SHARE,
    "preflight_max_memory_fraction": SHARE,
    "preflight_metadata": METADATA,
    "reboot_batch": BATCH,
    "reboot_may_fail": FAILURES,
    "reboot_timeout": SOME,
    "reboot_boot_seconds": SOME,
    "reboot_commands_before": COMMANDS,
    "reboot_commands_after": COMMANDS,
    "kubernetes_node_kubelet_service": WORD,
    "kubernetes_node_grace": SOME,
    "kubernetes_node_poll": ABOVE_ZERO,
    "gpu_topology_poll": ABOVE_ZERO,
    "gpu_topology_nodes": TEXTS,
    "placement_nodes": TEXTS,
    "placement_arena": WORD,
    "mpijob_name": JOB,
    "mpijob_workers": WORKERS,
    "mpijob_gpus_per_worker": SOME,
    "mpijob_image": IMAGE_NAME,
    "mpijob_command": WORDS,
    "mpijob_memory": QUANTITY,
    "mpijob_shm_size": SIZE,
    "mpijob_mounts": _each(MOUNT, "mounts, each source:target or source:target:ro"),
    "mpijob_mounts_extra": _each(MOUNT, "mounts, each source:target or source:target:ro"),
    "mpijob_network_mode": one_of(["host"]),
    "mpijob_environment": ENVIRONMENT,
    "mpijob_api_version": one_of(list(VERSIONS)),
    "mpijob_launcher_cpu": QUANTITY,
    "mpijob_launcher_memory": QUANTITY,
    "mpijob_wait_timeout": SOME,
    "mpijob_poll": ABOVE_ZERO,
    "mpijob_python": ABSOLUTE,
    "ssh_trust_port": PORT,
    "ssh_trust_address": ADDRESS,
    "training_container_image": IMAGE_NAME,
    "training_container_gpus": GPUS,
    "training_container_shm_size": SIZE,
    "training_container_ulimits": _each(ULIMIT, "limits, each name=value or name=soft:hard, as in memlock=-1"),
    "training_container_mounts_extra": _each(MOUNT, "mounts, each source:target or source:target:options"),
    "training_container_environment": ENVIRONMENT,
    "container_engine_packages": TEXTS,
    "container_engine_python_packages": TEXTS,
    "container_engine_deb_url": REPOSITORY,
    "container_engine_deb_key_url": REPOSITORY,
    "container_engine_rpm_url": REPOSITORY,
    "container_engine_rpm_key_url": REPOSITORY,
    "container_engine_nvidia_deb_url": REPOSITORY,
    "container_engine_nvidia_rpm_url": REPOSITORY,
    "container_engine_nvidia_key_url": REPOSITORY,
    "container_engine_deb_key_sha256": SHA256_OF_FILE,
    "container_engine_nvidia_key_sha256": SHA256_OF_FILE,
    "container_engine_prove_image": IMAGE_NAME,
    "benchmark_arm": arm("benchmark_arm"),
    "benchmark_dataset_sha256": SHA256_OF_FILE,
    "benchmark_lightcc": LIGHTCC,
    "benchmark_timeout": SOME,
    "benchmark_env": ENVIRONMENT,
    "benchmark_mca": PARAMETERS,
    "benchmark_hosts": HOSTS,
    "benchmark_mpirun": WORD,
    "benchmark_interface": INTERFACES,
    "benchmark_plugin_path": ABSOLUTE,
    "benchmark_horovod_version": WORD,
    "benchmark_horovod_build_env": ENVIRONMENT,
    "benchmark_horovod_source": WORD,
    "compare_name": LABELLED,
    "compare_preset": one_of(list(PRESETS)),
    "compare_arms": ARMS,
    "compare_node_counts": _each(SOME, "whole numbers, each 1 or more"),
    "compare_batch_sizes": _each(SOME, "whole numbers, each 1 or more"),
    "compare_repeats": REPEATS,
    "compare_budget_minutes": ABOVE_ZERO,
    "compare_min_effect": INNER_SHARE,
    "compare_confidence": INNER_SHARE,
    "compare_day_spread": INNER_SHARE,
    "compare_line_rate_gbps": ABOVE_ZERO,
    "locate_arm": arm("locate_arm"),
    "locate_effect": INNER_SHARE,
    "locate_budget_minutes": ABOVE_ZERO,
    "locate_max_rounds": SOME,
    "locate_expected": ABOVE_ZERO,
    "plan_file": PLAN_FILE,
}

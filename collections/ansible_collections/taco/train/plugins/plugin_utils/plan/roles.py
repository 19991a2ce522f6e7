# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What each role's change rests on, interrupts and leaves unknown until another change is applied. Values in, values out."""

from typing import Any, Callable, Mapping, NamedTuple

from ansible_collections.taco.train.plugins.plugin_utils.plan.change import Later, Values
from ansible_collections.taco.train.plugins.plugin_utils.text import counted
from ansible_collections.taco.train.plugins.plugin_utils.variables.role_options import options_of

Text = Callable[[Values, Values, Values], str]
"""A text from the result of the module, the observation and the variables."""


class Role(NamedTuple):
    """How the plan reads the result of a role's module."""

    module: str
    facts: tuple[str, ...]
    """Paths in the observation that the decision rests on."""
    variables: tuple[str, ...]
    what: Text
    reason: Text
    interrupts: Callable[[Values, Values, Values], list[str]]
    later: Callable[[Values, Values], list[Later]]


def _nothing(_result: Values, _node: Values, _variables: Values) -> list[str]:
    return []


def _all_known(_result: Values, _node: Values) -> list[Later]:
    return []


def _engine_runs(node: Values) -> bool:
    return bool((node.get("container_engine") or {}).get("running"))


def _hugepages_what(result: Values, _node: Values, _variables: Values) -> str:
    count, size = result.get("count", 0), result.get("page_size")
    if not count:
        return "restore the boot configuration"
    return f"reserve {counted(int(count), 'page')} of {size} in the boot configuration"


def _hugepages_reason(result: Values, _node: Values, variables: Values) -> str:
    arguments = (result.get("kernel_args") or {}).get("before") or []
    reserved = [argument for argument in arguments if "hugepages" in argument.partition("=")[0]]
    fact = f"the boot configuration has {' '.join(reserved) or 'no hugepages'}"
    if variables.get("hugepages_state") == "restored":
        return f"{fact}; hugepages_state is restored"
    count = variables.get("hugepages_count")
    rule = f"hugepages_count is {count}"
    if count is None:
        rule = f"taco_gpus_per_node is {variables.get('taco_gpus_per_node')}"
    return f"{fact}; {rule}, which requires {result.get('count')} of {result.get('page_size')}"


def _reboot_reason(result: Values, _node: Values, _variables: Values) -> str:
    return f"the running kernel has other pages than the boot configuration with {result.get('count')} of {result.get('page_size')}"


def _reboot_interrupts(_result: Values, _node: Values, variables: Values) -> list[str]:
    pods = ["pods of the node, which is drained"] if variables.get("taco_platform") in ("tke", "ack") else []
    return ["reboot of the host", *pods]


def _harp_what(result: Values, _node: Values, variables: Values) -> str:
    if variables.get("harp_state") == "absent":
        return "restore HARP's configuration"
    if result.get("ran"):
        return "run HARP's setup script"
    return "write HARP's configuration and the host manifest"


def _harp_reason(result: Values, node: Values, variables: Values) -> str:
    files = (node.get("harp") or {}).get("config_files") or []
    if variables.get("harp_state") == "absent":
        return f"{counted(len(files), 'configuration file')} found; harp_state is absent"
    return str(result.get("reason") or f"the files differ from those of harp_source {variables.get('harp_source')}")


def _harp_later(result: Values, _node: Values) -> list[Later]:
    if not result.get("ran"):
        return []
    return [Later("the configuration files of HARP", "HARP's setup script writes them when it runs")]


def _engine_what(result: Values, _node: Values, _variables: Values) -> str:
    if "results" in result:
        return "remove the package repositories of taco.train"
    return "install " + ", ".join(result.get("msg") or ["Docker Engine"])


def _engine_reason(_result: Values, node: Values, _variables: Values) -> str:
    engine = node.get("container_engine")
    if not engine:
        return "no Docker Engine is installed"
    if not engine.get("running"):
        return "Docker Engine is stopped"
    toolkit = engine.get("nvidia_toolkit") or "none"
    return f"Docker Engine runs with runtimes {', '.join(engine.get('runtimes') or []) or 'unknown'}; NVIDIA Container Toolkit: {toolkit}"


def _engine_interrupts(result: Values, _node: Values, _variables: Values) -> list[str]:
    return ["restart of Docker Engine"] if "NVIDIA Container Toolkit" in (result.get("msg") or []) else []


def _engine_later(_result: Values, _node: Values) -> list[Later]:
    return [Later("the versions of the packages", "the package repository is read when they are installed")]


def _container_what(result: Values, node: Values, variables: Values) -> str:
    name = variables.get("taco_container_name")
    if variables.get("training_container_state") == "absent":
        return f"remove the container {name}"
    return f"recreate the container {name}" if node.get("training_container") else f"create the container {name}"


def _container_reason(_result: Values, node: Values, variables: Values) -> str:
    container = node.get("training_container")
    fact = f"there is no container {variables.get('taco_container_name')}"
    if container:
        fact = f"the container is {container.get('status')} from {container.get('image')}"
    if variables.get("training_container_state") == "absent":
        return f"{fact}; training_container_state is absent"
    image = variables.get("training_container_image") or variables.get("taco_image")
    return f"{fact}; required: running from {image} with the options of training_container_profile"


def _container_interrupts(_result: Values, node: Values, _variables: Values) -> list[str]:
    container: Any = node.get("training_container")
    running = container and container.get("status") == "running"
    return [f"container {container['name']} with its processes"] if running else []


def _container_later(result: Values, node: Values) -> list[Later]:
    if _engine_runs(node) and result.get("diff"):
        return []
    return [Later("the options of the container that differ", "no Docker Engine runs yet")]


def _trust_what(result: Values, _node: Values, variables: Values) -> str:
    if variables.get("ssh_trust_state") == "absent":
        return "stop the SSH server and remove its keys"
    verb = {"started": "start", "restarted": "restart"}.get(str(result.get("server")))
    files = counted(len(result.get("files") or []), "file")
    texts = [f"write {files} of the SSH trust"] if result.get("files") else []
    return " and ".join(texts + ([f"{verb} the SSH server"] if verb else [])) or "create keys for SSH"


def _trust_reason(result: Values, node: Values, variables: Values) -> str:
    trust = node.get("ssh_trust")
    fact = f"{counted(trust.get('peers', 0), 'peer')} trusted" if trust else "no keys of this collection"
    if variables.get("ssh_trust_state") == "absent":
        return f"{fact}; ssh_trust_state is absent"
    return f"{fact}; the role ssh_trust lets every host of the play reach every other"


def _trust_interrupts(result: Values, _node: Values, _variables: Values) -> list[str]:
    return ["restart of the SSH server of the training container"] if result.get("server") == "restarted" else []


def _trust_later(result: Values, node: Values) -> list[Later]:
    if node.get("ssh_trust") is not None or result.get("files"):
        return []
    return [
        Later("the public keys, and the files with the keys of all hosts", "keys are created when the plan is applied")
    ]


# The content of a file on the controller, by the variable that names the file.
CONTENT = "content of "
CONTENTS: Mapping[str, str] = {"harp_script": "files", "reboot_tasks_before": "tasks", "reboot_tasks_after": "tasks"}
"""Variables that name such a file, and the folder of a role or a playbook in which Ansible looks for it."""
UNRELATED: Mapping[str, str] = {
    "reboot_boot_seconds": "the forecast",
    "harp_timeout": "how long a script may run",
    "harp_template": "the rendered files are in the diff",
    "container_engine_prove": "a check",
    "container_engine_prove_image": "a check",
    "training_container_require_harp": "a check",
    "training_container_may_stay": "set by the playbook rollback",
    "ssh_trust_prove": "a check",
}
"""Variables of the roles that decide on no change, and why."""
# The permission to interrupt running work, and the container whose processes are running work.
INTERRUPTION = ("taco_interrupt_running_work", "taco_container_name")


def variables_of(role: str, *shared: str) -> tuple[str, ...]:
    """The variables that a change of a role rests on: those of the role, and those of other roles."""
    own = [name for name in options_of(role) if name not in UNRELATED]
    return (*own, *(CONTENT + name for name in own if name in CONTENTS), *shared)


NICS = ("nics.*.name", "nics.*.mac", "nics.*.pci", "nics.*.primary", "nics.*.addresses")
OS = ("os.id", "os.id_like", "os.version_id")
_BOOT = ("boot.layout", "cpu.page_1g", "cpu.page_2m", "memory.total_bytes")
ROLES: Mapping[str, Role] = {
    "hugepages": Role(
        "taco.train.hugepages",
        _BOOT,
        variables_of("hugepages", "taco_gpus_per_node", "taco_state_dir"),
        _hugepages_what,
        _hugepages_reason,
        _nothing,
        _all_known,
    ),
    "reboot": Role(
        "ansible.builtin.reboot",
        ("kernel.cmdline", "hugepages.pools.*.size_bytes", "hugepages.pools.*.total"),
        variables_of(
            "reboot",
            *("hugepages_count", "hugepages_page_size", "taco_platform", *INTERRUPTION),
            *("kubernetes_node_drain", "kubernetes_node_force", "kubernetes_node_delete_emptydir_data"),
            "kubernetes_node_grace",
        ),
        lambda _result, _node, _variables: "reboot",
        _reboot_reason,
        _reboot_interrupts,
        _all_known,
    ),
    "harp": Role(
        "taco.train.harp_config",
        ("harp.config_dir", "harp.config_files", "harp.record", *NICS),
        variables_of("harp", "eni_pattern", "taco_state_dir", *INTERRUPTION),
        _harp_what,
        _harp_reason,
        _nothing,
        _harp_later,
    ),
    "container_engine": Role(
        "ansible.builtin.package",
        (
            "container_engine.running",
            "container_engine.runtimes",
            "container_engine.nvidia_toolkit",
            "python.requests",
            *OS,
        ),
        variables_of("container_engine", *INTERRUPTION),
        _engine_what,
        _engine_reason,
        _engine_interrupts,
        _engine_later,
    ),
    "training_container": Role(
        "taco.train.training_container",
        (
            *("container_engine.running", "training_container.status", "training_container.image"),
            *("training_container.image_id", "training_container.options_sha256", "training_container.restart_policy"),
        ),
        variables_of("training_container", "taco_image", "taco_state_dir", *INTERRUPTION),
        _container_what,
        _container_reason,
        _container_interrupts,
        _container_later,
    ),
    "ssh_trust": Role(
        "taco.train.ssh_trust",
        tuple("ssh_trust." + name for name in ("public_key", "host_key", "port", "name", "address", "peers_sha256")),
        variables_of("ssh_trust", "taco_interface", "taco_ssh_port", "taco_container_name", "taco_state_dir"),
        _trust_what,
        _trust_reason,
        _trust_interrupts,
        _trust_later,
    ),
    "benchmark": Role(
        "ansible.builtin.file",
        (),
        ("taco_state_dir", "benchmark_plugin_path"),
        lambda result, _node, _variables: f"remove {', '.join(result.get('removed') or [])} of benchmarks",
        lambda _result, _node, _variables: "benchmarks left them; the playbook rollback removes them",
        _nothing,
        _all_known,
    ),
}
# The variables of all roles together.
VARIABLES: tuple[str, ...] = tuple(sorted({name for role in ROLES.values() for name in role.variables}))

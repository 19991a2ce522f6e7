# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the documents of each platform give to every mpirun: the one table of it. Values in, values out.

CVM and TKE: the benchmark commands of the vendor's documents on TACO-Training. ACK: `arena submit mpi` in the document on
scheduling GPUs by topology; it leaves NCCL its own choice of the algorithm.
"""

from typing import Any, Mapping, NamedTuple

# Stands for the interface of a run.
INTERFACE = "{interface}"
# The launcher's values go to every rank, on each platform.
EXPORTED: Mapping[str, None] = {"LD_LIBRARY_PATH": None, "PATH": None}


class Platform(NamedTuple):
    """The defaults of a platform."""

    env: Mapping[str, str]
    """Variables of the ranks."""
    mca: Mapping[str, str]
    """Parameters of Open MPI's components."""
    tf_cnn_python: str = "python3"
    """The Python that runs tf_cnn_benchmarks."""


# The platforms whose hosts are nodes of a Kubernetes cluster.
KUBERNETES = ("tke", "ack")
TACO = Platform({"NCCL_ALGO": "RING", "NCCL_DEBUG": "INFO"}, {"btl_tcp_if_include": INTERFACE})
PLATFORMS = {
    "cvm": TACO,
    "tke": TACO,
    "ack": Platform(
        {"NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": INTERFACE},
        {
            "pml": "ob1",
            "btl_tcp_if_include": INTERFACE,
            "oob_tcp_if_include": INTERFACE,
            "orte_keep_fqdn_hostnames": "t",
            "btl": "^openib",
        },
        "python",
    ),
}
# Open MPI takes subnets in place of names of interfaces, NCCL does not.
NAMES_ONLY = "NCCL_SOCKET_IFNAME"


def platform_of(options: Mapping[str, Any]) -> Platform:
    """Return the defaults of the platform of a run."""
    return PLATFORMS[options.get("platform") or "cvm"]


def default_env(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of the ranks that the platform sets."""
    interface = str(options.get("interface"))
    env = platform_of(options).env
    found = {name: value.replace(INTERFACE, interface) for name, value in env.items()}
    return {name: value for name, value in found.items() if name != NAMES_ONLY or "/" not in value}


def default_mca(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters of Open MPI's components that the platform sets.

    Where all ranks run in one container with a network of its own, no parameter names an interface: it is one of the host.
    """
    mca = platform_of(options).mca
    if options.get("local"):
        mca = {name: value for name, value in mca.items() if INTERFACE not in value}
    return {name: value.replace(INTERFACE, str(options.get("interface"))) for name, value in mca.items()}


def merged_env(chosen: Mapping[str, Any], given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of the ranks with those of benchmark_env, and those that are exported last.

    A null takes away a variable that the platform sets or exports, and has the launcher's value of any other exported.
    """
    removed = {name for name in (*default_env(options), *EXPORTED) if name in given and given[name] is None}
    merged = {**chosen, **given}
    merged.update((name, value) for name, value in EXPORTED.items() if name not in merged)
    return {name: value for name, value in merged.items() if name not in removed}


def merged_mca(given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of Open MPI's components with those of benchmark_mca. A null takes a parameter away."""
    return {name: value for name, value in {**default_mca(options), **given}.items() if value is not None}


def on_cluster(variables: Mapping[str, Any]) -> bool:
    """Return whether a host is a node of a Kubernetes cluster."""
    return variables.get("taco_platform") in KUBERNETES

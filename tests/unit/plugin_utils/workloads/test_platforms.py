# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The command of each platform is that of its documents, and every default of it can be taken away."""

import shlex

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.container.profile import needs_of
from ansible_collections.taco.train.plugins.plugin_utils.run.options import effective
from ansible_collections.taco.train.plugins.plugin_utils.run.plan import OPTIONS, PLACES, plan
from ansible_collections.taco.train.plugins.plugin_utils.workloads.platforms import PLATFORMS, default_env, default_mca

SCRIPT = "/tensorflow/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py"
# The command of the document on scheduling GPUs by topology, word for word.
DOCUMENT_ACK = (
    'mpirun --allow-run-as-root -np "4" -bind-to none -map-by slot -x NCCL_DEBUG=INFO -x NCCL_SOCKET_IFNAME=eth0 '
    "-x LD_LIBRARY_PATH -x PATH --mca pml ob1 --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 "
    f"--mca orte_keep_fqdn_hostnames t --mca btl ^openib python {SCRIPT} --model=vgg16 --batch_size=64 "
    "--variable_update=horovod"
)
ARGUMENTS = {"-np": 1, "-bind-to": 1, "-map-by": 1, "-x": 1, "-H": 1, "-mca": 2}


def argv_of(platform, **given):
    defaults = {name: spec.get("default") for name, spec in {**OPTIONS, **PLACES}.items()}
    hosts = [{"name": f"worker-{number}", "slots": 1} for number in range(4)]
    common = {"hosts": hosts, "platform": platform, "arm": needs_of(None, platform).arm, "mpirun": "mpirun"}
    return plan(effective(dict(defaults, **dict(common, **given)))).argv


def flags(argv):
    """Return the options of a command with their values, and its other words, as a set."""
    words, found = list(argv), set()
    while words:
        word = words.pop(0)
        word = word[1:] if word[1:] in ARGUMENTS else word
        count = ARGUMENTS.get(word, 0)
        found.add((word, *words[:count]))
        del words[:count]
    return found


ACK = {"workload": "tf_cnn_benchmarks", "script": SCRIPT, "model": "vgg16", "batch_size": 64}


@pytest.mark.parametrize("arm", ["tcp", "default", "topology"])
def test_the_command_on_ack_is_that_of_the_document(arm):
    built, document = flags(argv_of("ack", arm=arm, **ACK)), flags(shlex.split(DOCUMENT_ACK))
    assert document - built == set()
    # Where the ranks run is said to mpirun, and how many batches to the script. These are its own defaults.
    assert sorted(word[0] for word in built - document) == ["--num_batches=100", "--num_warmup_batches=10", "-H"]


def test_tke_has_the_defaults_of_cvm():
    assert argv_of("tke") == argv_of("cvm")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_null_takes_every_default_away(platform):
    options = {"platform": platform, "interface": "eth0"}
    env, mca = default_env(options), default_mca(options)
    argv = argv_of(
        platform,
        arm="harp",
        env=dict.fromkeys([*env, "LD_LIBRARY_PATH", "PATH"]),
        mca=dict.fromkeys([*mca, "not_given"]),
    )
    assert env and mca and "-x" not in argv and "-mca" not in argv


def test_a_null_exports_a_variable_that_is_no_default():
    found = flags(argv_of("ack", env={"TOKEN": None, "NCCL_ALGO": None, "NCCL_DEBUG": None}))
    assert {("-x", "TOKEN"), ("-x", "NCCL_ALGO"), ("-x", "PATH")} <= found
    assert not [word for word in found if word[0] == "-x" and word[1].startswith("NCCL_DEBUG")]


def test_what_the_user_sets_replaces_a_default_of_the_platform():
    found = flags(argv_of("ack", env={"NCCL_SOCKET_IFNAME": "eth1"}, mca={"btl": "tcp,self"}))
    assert ("-x", "NCCL_SOCKET_IFNAME=eth1") in found and ("-mca", "btl", "tcp,self") in found
    assert ("-x", "NCCL_SOCKET_IFNAME=eth0") not in found and ("-mca", "btl", "^openib") not in found


def test_nccl_gets_no_subnet_for_the_name_of_an_interface():
    found = flags(argv_of("ack", interface="10.0.0.0/16"))
    assert ("-mca", "oob_tcp_if_include", "10.0.0.0/16") in found
    assert not [word for word in found if "NCCL_SOCKET_IFNAME" in str(word)]

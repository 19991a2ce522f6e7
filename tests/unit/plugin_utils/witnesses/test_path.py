# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The path of runs: what decides it, and everything that must leave it undecided."""

import pytest
import recorded
from counted import counters

from ansible_collections.taco.train.plugins.plugin_utils.witnesses import path as paths
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.difference import differences
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.path import path
from ansible_collections.taco.train.plugins.plugin_utils.workloads import horovod, nccl_tests, tf_cnn, traffic

# ResNet-50: 25.6 million gradients of 4 bytes, 2 hosts with 8 ranks each, 10 + 10 x 10 batches.
RESNET = 2 * 15 / 16 * 25.6e6 * 4 * 110


def run(arm="tcp", **changes):
    network = "Socket" if arm in ("tcp", "lightcc") else "HARP"
    text = recorded.log_of("horovod_synthetic", 300.0, 16, network)
    record = recorded.record(
        "horovod_synthetic", text=text, arm=arm, model="ResNet50", framework="tensorflow", num_iters=10
    )
    assert record["outcome"] == "ok", record["problems"]
    return dict(record, **changes)


def taken(record, *sent, shared=(), **changes):
    names = [host["name"] for host in record["hosts"]]
    return path([record], differences(counters(dict(zip(names, sent)), **changes)), shared)


def test_the_bytes_of_a_model_are_those_of_its_gradients():
    assert paths.expected_bytes([run()]) == {"gpu1": RESNET, "gpu2": RESNET}
    assert paths.expected_bytes([run(), run()])["gpu1"] == 2 * RESNET


@pytest.mark.parametrize(
    ("arm", "share", "verdict"),
    [
        ("tcp", 1.1, "proved"),
        ("tcp", 0.55, "proved"),
        ("tcp", 0.3, "unknown"),
        ("tcp", 0.01, "contradicted"),
        ("harp", 0.001, "proved"),
        ("harp", 0.3, "unknown"),
        ("harp", 0.6, "contradicted"),
        ("harp", 1.2, "contradicted"),
    ],
)
def test_the_bytes_decide_the_path(arm, share, verdict):
    found = taken(run(arm), int(RESNET * share), int(RESNET * share))
    assert found.verdict == verdict and "had to be sent" in found.reason, found


def test_the_bytes_of_another_plugin_promise_no_path():
    spec = run("harp")["arm_spec"]
    for network, promised in ((None, "HARP"), ("my_ztcp", "HARP"), ("GPUDirectTCPX_v7", None)):
        assert paths.promise(run("harp", arm_spec=dict(spec, network=network))) == promised


def test_one_host_with_other_traffic_is_no_fall_back():
    assert taken(run("harp"), int(RESNET), 0).verdict == "contradicted"
    three = run("harp", hosts=[{"name": name, "slots": 4} for name in ("a", "b", "c")])
    assert taken(three, int(RESNET * 2), 0, 0).verdict == "unknown"


def test_what_leaves_the_path_undecided():
    much = (int(RESNET), int(RESNET))
    record = run("harp")
    assert "top-k" in taken(run("taco"), *much).reason
    assert "same node" in taken(record, *much, shared=[["gpu1", "gpu2"]]).reason
    assert "same node" in taken(dict(record, placement={"gpu1": "n1", "gpu2": {"node": "n1"}}), *much).reason
    assert "stand-in" in taken(dict(record, lab=True), *much).reason
    assert "one host" in taken(dict(record, hosts=record["hosts"][:1]), *much).reason
    assert "not known" in taken(dict(record, parameters=dict(record["parameters"], model="Other")), *much).reason
    assert (
        "only 9.6"
        in taken(dict(run(), result=dict(run()["result"], details={"exchange": {"bytes": 87272}})), 9, 9).reason
    )
    keep = dict(record, arm_spec=dict(record["arm_spec"], plugin="keep"))
    assert taken(keep, *much).promise is None
    failed = dict(record, outcome="failed", result=None, problems=["no"])
    assert "no run was good" in taken(failed, *much).reason


def test_a_reset_or_missing_counter_leaves_the_path_undecided():
    record = run()
    pair = counters({"gpu1": int(RESNET), "gpu2": int(RESNET)}, interfaces=("eth0", "eth1"))
    pair["gpu2"]["before"]["counters"]["nics"]["eth1"]["tx_bytes"] = int(RESNET) + 1
    found = path([record], differences(pair))
    assert (found.verdict, found.reason[:4]) == ("unknown", "gpu2") and "reset" in found.reason
    assert path([record], {}).verdict == "unknown"
    assert path([record], {"gpu1": None, "gpu2": None}).verdict == "unknown"


def test_the_bytes_that_a_script_counted_have_precedence():
    own = {"model": "ResNet50", "script": "/data/train.py"}
    assert traffic.of_training(own, {"details": {"exchange": {"bytes": 100}}}, 4, 7, ()) == 700


def test_nobody_knows_what_a_script_of_the_user_sends():
    """It may accumulate gradients over batches, or freeze a part of the model."""
    known, own = ({"model": "VGG16", "script": f"/data/{name}.py"} for name in ("pytorch_synthetic_benchmark", "train"))
    assert horovod.WORKLOAD.sent(known, {}, 2) and horovod.WORKLOAD.sent(own, {}, 2) is None
    assert tf_cnn.WORKLOAD.sent({"model": "vgg16", "script": "/data/train.py"}, {}, 2) is None


def test_half_precision_halves_the_bytes():
    options = {"model": "VGG16", "extra_args": ["--fp16-allreduce"]}
    assert traffic.of_training(options, {}, 2, 10, ()) == 138e6 * 2 * 10
    assert tf_cnn.WORKLOAD.sent({"model": "vgg16", "num_batches": 10}, {}, 2) == 138e6 * 4 * 10


def test_the_bytes_of_nccl_tests_are_those_of_its_sizes():
    rows = [{"size": size, "out_of_place": {"busbw": 1.0}, "in_place": {"busbw": 1.0}} for size in (1 << 20, 1 << 21)]
    found = {"details": {"rows": rows}}
    assert nccl_tests.sent({"iters": 20}, found, 4) == 2 * 3 / 4 * 2 * 3 * (1 << 20) * 20
    for options in (
        {"binary": "/opt/all_gather_perf"},
        {"env": {"NCCL_TESTS_SPLIT": "AND 0x7"}},
        {"extra_args": ["-n", "5"]},
        {"extra_args": ["--iters=5"]},
    ):
        assert nccl_tests.sent(options, found, 4) is None, options
    assert nccl_tests.sent({}, {"details": {"rows": []}}, 4) is None
    assert traffic.of_all_reduces(8, 1, 1) is None

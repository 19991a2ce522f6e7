# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Counters of hosts before and after a run, for tests."""

import copy

GPU = "GPU-0d3f"


def snapshot(sent=0, uptime=100.0, namespace="net:[1]", interfaces=("eth0",), **changes):
    nic = {"tx_bytes": sent, "rx_bytes": sent, "rx_dropped": 0, "tx_dropped": 0, "rx_errors": 0, "tx_errors": 0}
    found = {
        "boot_id": "boot",
        "namespace": namespace,
        "uptime": uptime,
        "nics": {name: dict(nic) for name in interfaces},
        "tcp": {"OutSegs": 1000, "RetransSegs": 0},
        "cpu": {"total": 1000, "idle": 500, "steal": 0},
        "throttling": {"periods": 0, "microseconds": 0},
        "gpus": None,
        "xids": None,
    }
    return dict(copy.deepcopy(found), **changes)


def results(before, after, samples=None):
    """The results of the module counters on one host."""
    return {"before": {"counters": before}, "after": {"counters": after, "samples": samples or {}}}


def counters(sent, **changes):
    """The results of hosts that each sent so many bytes, by host."""
    found = {}
    for number, (host, size) in enumerate(sent.items()):
        namespace = f"net:[{number}]"
        after = snapshot(size, 160.0, namespace, **changes)
        found[host] = results(snapshot(0, 100.0, namespace, **changes), after)
    return found

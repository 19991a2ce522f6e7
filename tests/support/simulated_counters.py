# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the counters of simulated hosts show of one run over all of them under kernel TCP.

The times of connections follow a measurement on network namespaces: of healthy hosts the busiest has 1.03 to 1.05 times the median, with
a host that sends at 75 % it has 1.27 to 1.53 times, at 50 % 2.15 to 2.26 times, and the host that sends to it is second.
A slow GPU shows in its clock or a slow CPU in the time that a quota stopped it, three times of four; slow memory shows nowhere.
"""

COMMUNICATION = 0.45
SPREAD = 0.02
UPSTREAM = 0.3
SECONDS = 60.0
SEEN = ("clock", "throttled", "memory", "clock")


def happened(rng, hosts, faults):
    """The differences of the counters of each host, as a record has them. faults are those of the hosts, by host."""
    slowest = max((fault.loss for fault in faults.values()), default=0.0)
    upstream = {hosts[hosts.index(host) - 1] for host, fault in faults.items() if fault.network}
    return {host: _host(rng, faults.get(host), slowest, host in upstream) for host in hosts}


def _host(rng, fault, slowest, upstream):
    # The run takes 1 / (1 - slowest) times as long; the computation of a healthy host and what it sends do not.
    busy = COMMUNICATION * (1 - slowest)
    if fault and fault.network:
        busy = 1 - (1 - COMMUNICATION) * (1 - fault.loss)
    elif upstream:
        busy += UPSTREAM * slowest
    kind = rng.choice(SEEN) if fault and not fault.network else None
    clock = 1500 * (1 - (fault.loss if kind == "clock" else 0.0)) * rng.gauss(0.98, 0.005)
    throttled = SECONDS * fault.loss if kind == "throttled" else 0.0
    return {
        "seconds": SECONDS,
        "nics": {"eth0": {"sent": 10**9, "received": 10**9, "drops": 0, "errors": 0}},
        "segments": 10**6,
        "retransmits": rng.randint(0, 200),
        "steal": abs(rng.gauss(0, 0.001)),
        "throttled_seconds": throttled,
        "peers": [{"peer": "next", "busiest": busy * rng.lognormvariate(0, SPREAD)}],
        "gpus": {
            "GPU-0": {"clock": round(clock), "clock_max": 1500, "temperature": round(rng.gauss(60, 2)), "reasons": []}
        },
    }

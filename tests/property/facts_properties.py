# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What holds for every host, however odd."""

import string

from hypothesis import given, settings
from hypothesis import strategies as st
from observed import NODE, VARIABLES

from ansible_collections.taco.train.plugins.module_utils._boot.pools import parse_mounts, parse_size
from ansible_collections.taco.train.plugins.module_utils._node.enis import find_enis, judge_enis
from ansible_collections.taco.train.plugins.module_utils._node.gpus import normal_address, parse_nvidia_smi
from ansible_collections.taco.train.plugins.module_utils._node.meminfo import cpu, memory
from ansible_collections.taco.train.plugins.module_utils._node.nics import PORTS, default_interfaces, parse_addresses
from ansible_collections.taco.train.plugins.module_utils._observation.node import os_identity, parse_os_release
from ansible_collections.taco.train.plugins.plugin_utils.check import STATUSES
from ansible_collections.taco.train.plugins.plugin_utils.preflight.table import WIDTH, table
from ansible_collections.taco.train.plugins.plugin_utils.preflight.verdict import Host, failed_hosts, judge
from ansible_collections.taco.train.plugins.plugin_utils.text import cells

KINDS = (*PORTS, "virtual", "bond", "bridge", "loopback")
QUICK = settings(max_examples=25)


@st.composite
def interfaces(draw):
    """Interfaces with names and MAC addresses of their own; only those with a device have a PCI address."""
    nics = []
    for number in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(KINDS))
        on_bus = kind in PORTS and draw(st.booleans())
        nics.append(
            {
                "name": f"eth{number}",
                "mac": f"52:54:00:00:00:{number:02x}",
                "pci": f"0000:00:{number:02x}.0" if on_bus else None,
                "numa_node": None,
                "driver": None,
                "kind": kind,
                "up": draw(st.booleans()),
                "primary": draw(st.booleans()),
                "addresses": [],
            }
        )
    return nics


@given(interfaces())
def test_as_many_enis_as_found_are_right_and_any_other_number_is_one_problem(nics):
    enis = find_enis(nics)
    assert judge_enis(enis, len(enis)) == []
    for expected in {0, len(enis) + 1, len(enis) + 8} - {len(enis)}:
        (problem,) = judge_enis(enis, expected, nics=nics)
        assert problem.startswith(f"{len(enis)} of {expected} ")
        assert all(nic["name"] in problem for nic in enis) and len(problem) < 2000


@given(interfaces())
def test_a_pattern_for_every_name_finds_at_least_what_is_found_without(nics):
    without, with_pattern = find_enis(nics), find_enis(nics, "^eth")
    assert [nic for nic in with_pattern if nic in without] == without
    assert not [nic for nic in with_pattern if nic["primary"] or nic["kind"] not in ("physical", "virtual")]


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFF), st.integers(0, 0x1F), st.integers(0, 7))
def test_a_pci_address_has_one_spelling(domain, bus, device, function):
    sysfs = f"{domain:04x}:{bus:02x}:{device:02x}.{function}"
    assert normal_address(f"{domain:08X}:{bus:02X}:{device:02X}.{function}") == sysfs == normal_address(sysfs)


@given(st.text())
def test_no_text_is_too_odd_to_read(text):
    assert isinstance(parse_nvidia_smi(text), list)
    assert isinstance(parse_addresses(text), dict)
    assert isinstance(parse_mounts(text, None), list)
    assert set(os_identity(text)) == {"id", "id_like", "version_id", "name"}
    assert set(memory(text)) == {"total_bytes", "available_bytes"}
    assert cpu(text)["count"] >= 0
    assert default_interfaces(text) == [] or text
    assert parse_size(text) is None or parse_size(text) >= 0


@given(st.dictionaries(st.text(string.ascii_uppercase + "_", min_size=1), st.text(string.printable.replace("\n", ""))))
def test_quoted_values_of_os_release_come_back(values):
    def quote(value):
        return "'" + value.replace("'", "'\\''") + "'"

    values = {key: value for key, value in values.items() if not set(value) & set("\r\x0b\x0c")}
    text = "".join(f"{key}={quote(value)}\n" for key, value in values.items())
    assert parse_os_release(text) == values


@QUICK
@given(
    st.dictionaries(
        st.text(string.ascii_lowercase + string.digits + "-.", min_size=1, max_size=60),
        st.tuples(
            st.booleans(), st.dictionaries(st.sampled_from(sorted(VARIABLES)), st.none() | st.text() | st.integers())
        ),
        max_size=12,
    )
)
def test_every_verdict_adds_up_and_every_table_fits(hosts):
    def variables(changes):
        return dict(VARIABLES, **changes)

    verdict = judge(
        {name: Host(NODE if up else None, variables(more), "away") for name, (up, more) in hosts.items()}, None
    )
    checks = [check for host in verdict["hosts"].values() for check in host["checks"]] + verdict["fleet"]
    assert sum(verdict["summary"][status] for status in STATUSES) == len(checks)
    assert (verdict["summary"]["fail"] > 0) is bool(failed_hosts(verdict)) or not hosts
    assert all(check["fix"] for check in checks if check["status"] == "fail")
    text = table(verdict)
    assert max(map(cells, text.split("\n"))) <= WIDTH
    assert all(check["id"] in text for check in checks if check["status"] in ("fail", "warn"))

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Connections as ss prints them: with and without columns, IPv6 with an interface, old versions without some values."""

import pytest

from ansible_collections.taco.train.plugins.module_utils._node.connections import Peers, address, parse

HEAD = "Recv-Q Send-Q Local Address:Port  Peer Address:Port Process\n"
ENDS = "0      0        {local} {peer}   \n"
INFO = (
    "\t cubic wscale:7,7 rto:204 rtt:0.2/0.1 bytes_sent:{sent} bytes_retrans:1448 bytes_acked:{sent} bytes_received:{received} "
    "busy:{busy}ms rwnd_limited:20ms(10.0%) retrans:0/{again} rcv_space:14480\n"
)


def printed(sent, busy, again=0, local="10.0.0.1:40000", peer="10.0.0.2:1024"):
    return ENDS.format(local=local, peer=peer) + INFO.format(sent=sent, received=sent * 2, busy=busy, again=again)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("10.0.0.1:22", "10.0.0.1"),
        ("10.0.0.1%eth0:22", "10.0.0.1"),
        ("[2001:db8::1]:22", "2001:db8::1"),
        ("[fe80::1]%eth0:22", "fe80::1"),
        ("[fe80::1%eth0]:22", "fe80::1"),
        ("[::ffff:10.0.0.1]:22", "10.0.0.1"),
        ("*:22", "*"),
    ],
)
def test_the_address_of_an_end(text, host):
    assert address(text) == host


def test_a_connection_has_the_values_of_its_second_line():
    found = parse(HEAD + printed(100, 12, 3) + printed(7, 1, peer="[fe80::2]%eth1:22"))
    assert found[("10.0.0.1:40000", "10.0.0.2:1024")] == {
        "bytes_sent": 100,
        "bytes_acked": 100,
        "bytes_received": 200,
        "busy": 12,
        "rwnd_limited": 20,
        "retransmits": 3,
    }
    assert ("10.0.0.1:40000", "[fe80::2]%eth1:22") in found


@pytest.mark.parametrize("peer", ["127.0.0.1:22", "[::1]:22", "10.0.0.1:22"])
def test_connections_of_the_host_with_itself_are_left_out(peer):
    assert parse(HEAD + printed(1, 1, peer=peer)) == {}


@pytest.mark.parametrize("text", ["", HEAD, "garbage\n\tmore:garbage 1:2\n", "0 0 10.0.0.1:1\n", "\t busy:1ms\n"])
def test_other_text_is_no_connection(text):
    assert parse(text) == {}


def test_peers_count_connections_that_began_after_the_first_sample():
    old = printed(5000, 0, local="10.0.0.1:22")
    peers = Peers(HEAD + old)
    peers.add(10.0, HEAD + old + printed(100, 100))
    peers.add(15.0, HEAD + old + printed(900, 4100, 2) + printed(50, 0, local="10.0.0.1:40001"))
    peers.add(20.0, HEAD)
    assert peers.totals() == [
        {
            "peer": "10.0.0.2",
            "connections": 2,
            "sent": 950,
            "received": 1900,
            "retransmits": 2,
            "seconds": 5.0,
            "busy": 4.0,
            "busiest": 0.8,
            "rwnd_limited": 0.0,
            "sndbuf_limited": 0.0,
        }
    ]


def test_an_old_kernel_without_some_values_gives_the_others():
    peers = Peers("")
    peers.add(1.0, "0 0 10.0.0.1:40000 10.0.0.2:1024\n\t cubic rto:204 bytes_acked:7 bytes_received:8\n")
    assert peers.totals() == [{"peer": "10.0.0.2", "connections": 1, "sent": 7, "received": 8, "retransmits": 0}]


def test_a_connection_with_few_bytes_does_not_tell_how_busy_the_link_is():
    small = printed(50, 0, local="10.0.0.1:40001")
    peers = Peers(HEAD)
    peers.add(10.0, HEAD + small)
    peers.add(15.0, HEAD + printed(900, 4100) + small)
    (total,) = peers.totals()
    assert total["busy"] == 0.0 and "busiest" not in total
    peers.add(20.0, HEAD + printed(1800, 8100) + small)
    assert peers.totals()[0]["busiest"] == 0.8

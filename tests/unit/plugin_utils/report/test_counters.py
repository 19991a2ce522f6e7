# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The counters of the hosts on the page of a run."""

import recorded
from counted import counters
from rendered import of_runs

from ansible_collections.taco.train.plugins.plugin_utils.report.counters import hosts, sentences
from ansible_collections.taco.train.plugins.plugin_utils.witnesses.record import with_witnesses

SENT = 300 * 10**9


def witnessed(sent, runs=1):
    text = recorded.log_of("horovod_synthetic", 300.0, 16, "Socket")
    record = recorded.record("horovod_synthetic", text=text, arm="tcp", num_iters=10)
    return with_witnesses([record] * runs, counters(sent))[0][-1]


def test_the_page_has_the_path_and_a_row_for_each_host():
    page = of_runs([witnessed({"gpu1": SENT, "gpu2": SENT})])
    assert "the path over kernel TCP is proved" in page and "Too few hosts" in page
    assert page.count("<td>gpu2</td>") >= 1 and "300 GB" in page


def test_a_host_without_counters_is_not_known():
    record = witnessed({"gpu1": SENT})
    record["witnesses"]["hosts"]["gpu2"] = None
    assert hosts(record).rows[1] == ("gpu2", *["not known"] * 7)
    assert hosts(record).rows[0][:4] == ("gpu1", "300 GB", "300 GB", "not known")


def test_hosts_that_stand_out_are_listed():
    record = witnessed({"gpu1": SENT, "gpu2": SENT}, 2)
    record["witnesses"].update(too_few=None, outliers=[{"text": "gpu1: 40 % <b> of the time"}])
    assert sentences(record)[1:] == ["gpu1: 40 % <b> of the time.", "The counters are those of 2 runs together."]
    assert "40 % &lt;b&gt;" in of_runs([record])
    record["witnesses"]["outliers"] = []
    assert "No host stands out from the others." in sentences(record)


def test_a_record_without_counters_has_no_section():
    record = recorded.record("horovod_synthetic")
    assert sentences(record) == [] and hosts(record).rows == [] and "Counters of the hosts" not in of_runs([record])

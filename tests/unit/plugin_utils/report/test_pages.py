# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What pages say, and that nothing in a record can change what they are."""

import copy
import re
import shlex
from html import unescape

import compared
import pytest
import recorded
from page import Page
from rendered import drawings, of_comparison, of_runs, shown_of_comparison, text_of_comparison, text_of_runs

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import LOSSY, SYMBOLS
from ansible_collections.taco.train.plugins.plugin_utils.report.document import brief
from ansible_collections.taco.train.plugins.plugin_utils.report.render import markdown
from ansible_collections.taco.train.plugins.plugin_utils.report.run_page import command_lines, document, headline
from ansible_collections.taco.train.plugins.plugin_utils.workloads.registry import WORKLOADS

EVIL = "<script>alert('x')</script>|`\"& {{ 7 * 7 }} {% raw %} [a](http://b) ![a](c) \\\\|"
LINK = re.compile(r"(?<!\\)\]\(")
UNLIKE = ["Batch size differs: zebra (lossy: top-k compression) 8, tcp 16."]
HEADLINES = {
    "horovod_synthetic": (
        "3561.6",
        "images/s over 2 nodes x 8 ranks (arm harp: Horovod and HARP; vgg16, batch size 128, on GPUs).",
    ),
    "tf_cnn_benchmarks": (
        "307.1",
        "images/s over 2 nodes x 1 rank (arm tcp: Horovod over kernel TCP; resnet50, batch size 64, on GPUs).",
    ),
    "nccl_tests": (
        "11.2",
        "GB/s over 2 nodes x 2 ranks (arm harp: Horovod and HARP; all_reduce_perf, 1M to 4M bytes, on GPUs).",
    ),
    "ttf_dynamic_embedding": ("12.3", "steps/s over 1 process (arm harp: Horovod and HARP; TTF demo benchmark)."),
    "command": ("810.0", "samples/s over 2 nodes x 1 rank (arm harp: Horovod and HARP; train.py)."),
}


def record(workload="horovod_synthetic", **changes):
    return dict(recorded.record(workload), **changes)


def broken(**changes):
    return dict(
        recorded.record("horovod_synthetic", text="it broke\n", job={"rc": 1}), **{"problems": ["It broke."], **changes}
    )


def page(**changes):
    return of_comparison(compared.comparison(**changes), compared.records(), None, [], "Title", "run-1")


def poisoned(value):
    """Return the same structure with every text replaced."""
    if isinstance(value, str):
        return EVIL
    if isinstance(value, list):
        return [poisoned(one) for one in value]
    return {key: poisoned(one) for key, one in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_headline_of_a_workload_is_its_value_and_what_it_was_measured_over(workload):
    found = headline([record(workload)])
    assert (found.number, found.text) == HEADLINES[workload]


@pytest.mark.parametrize(
    ("records", "number", "words"),
    [
        ([], "", "No benchmark was run."),
        ([record(hosts=[{"name": "a", "slots": 1}], ranks=1)], "3561.6", "images/s over 1 node x 1 rank "),
        ([record(hosts=[{"name": "a", "slots": 4}, {"name": "b", "slots": 12}])], "3561.6", "over 2 nodes, 16 ranks "),
        ([record(), broken()], "3561.6", "1 of 2 runs failed."),
        ([broken()], "", "No result: the run failed. It broke."),
        ([broken(), broken()], "", "No result: all 2 runs failed. It broke."),
        ([broken(), broken(problems=["No GPU."])], "", "No result: all 2 runs failed."),
        ([record(placement={"w-0": "gpu1"})], "3561.6", "over 2 workers x "),
    ],
)
def test_the_headline_counts_hosts_and_failed_runs(records, number, words):
    found = headline(records)
    assert found.number == number and words in found.text


def test_the_newest_good_run_is_the_number():
    newer = record(result=dict(record()["result"], value=500.0))
    assert headline([record(), newer, broken()]).number == "500.0"


def test_a_lab_says_so_before_all_numbers():
    for text in (of_runs([record(lab=True)]), text_of_runs([record(lab=True)])):
        assert text.index("LAB: measured") < text.index("3561.6")
    assert "LAB" not in of_runs([record()])
    of_a_lab = page(lab=True)
    assert of_a_lab.count("<figure") == of_a_lab.count("<figcaption>Lab: ") == 8
    assert "measured here, in a lab" in of_a_lab


def test_the_title_of_the_page_and_of_its_tab_name_the_run():
    for text in (of_runs([record()], None, [], "Title", "run-1"), page()):
        assert "<title>Title: run-1</title>" in text and "<h1>Title: run-1</h1>" in text


def test_the_short_text_has_no_details():
    found = document([record(system={"gpu1": compared.SYSTEM})], compared.VERDICT)
    short = markdown(brief(found))
    assert "## To run it again" in markdown(found) and "## Hosts" in markdown(found)
    assert (
        "## To run it again" not in short
        and "## Hosts" not in short
        and "## Preflight" in short
        and "make room" not in short
    )
    assert "| Seconds |" in markdown(found) and "Seconds" not in short


def test_the_short_text_of_a_comparison_has_the_answer_the_verdicts_what_changed_and_what_failed():
    found = compared.comparison(unlike=UNLIKE, lab=True, regression=compared.regression())
    text = shown_of_comparison(found, compared.records(), None, ["A problem."], "Title", "run-1")
    titles = [line for line in text.splitlines() if line.startswith("#")]
    assert titles == ["# Title: run-1", *(f"## {name}" for name in ("Verdicts", "Regression", "What failed", "Notes"))]
    assert text.startswith("**NOT A LIKE-FOR-LIKE COMPARISON: Batch size differs")
    assert text.index("LAB: ") < text.index("*Does it train faster?*") < text.index("**LightCC is better by 2.10x.**")
    head = next(line for line in text.splitlines() if line.startswith("| Case"))
    wanted = ["Case", "Arm", "Verdict", "Ratio", "95 % interval", "Against", "More repeats"]
    assert [name.strip() for name in head.strip("|").split("|")] == wanted
    assert "1 worse." in text and "gpu2 took no part then." in text and "logs/a3.log" in text and "A problem." in text


@pytest.mark.parametrize("records", [[], [record()], [broken()], [broken(system={}, duration_s=None)]])
@pytest.mark.parametrize("verdict", [None, {}, compared.VERDICT])
def test_whatever_is_missing_the_page_is_whole(records, verdict):
    text = of_runs(records, verdict)
    assert Page(text).tags.count("h1") == 1 and "None" not in text


def test_nothing_measured_is_still_a_whole_page():
    text = of_comparison({"schema": 1, "cases": [], "arms": []}, [])
    assert Page(text).tags.count("h1") == 1
    assert "No verdict." in text and "None" not in text and "<table" not in text and "<svg" not in text


def test_a_page_needs_nothing_beside_it_but_logs_and_runs_nothing():
    for text, logs in (
        (
            of_runs([record(log="logs/one.log"), broken(log="logs/two.log")], compared.VERDICT),
            {"logs/one.log", "logs/two.log"},
        ),
        (page(), {"logs/a3.log"}),
    ):
        parsed = Page(text)
        assert set(parsed.links) == logs
        assert not {"script", "link", "img", "iframe"} & set(parsed.tags)
        assert "url(" not in text and "@import" not in text and "http" not in text


@pytest.mark.parametrize("log", ["javascript:alert(1)", "/etc/passwd", "../../x", "https://x/y", ""])
def test_only_a_log_beside_the_page_is_a_link(log):
    failures = [{"record": "a3", "arm": "tcp", "case": compared.VGG, "problems": [], "log": log}]
    assert Page(page(failures=failures)).links == []
    assert Page(of_runs([broken(log=log)])).links == []


def test_what_a_comparison_holds_stays_text():
    found = poisoned(compared.comparison(unlike=["x"], regression=compared.regression()))
    found["arms"][0]["environment"] = {EVIL: EVIL}
    system = {EVIL: {EVIL: EVIL, "os": EVIL, "gpu_names": [EVIL]}}
    records = [dict(one, argv=[EVIL], notes=[EVIL], id=EVIL, system=system) for one in compared.records()]
    text = of_comparison(found, records, None, [EVIL], EVIL, EVIL)
    assert "script" not in Page(text).tags
    assert Page(text).text.count(EVIL) > 40
    plain = text_of_comparison(found, records, None, [EVIL], EVIL, EVIL)
    outside = re.sub(r"(?ms)^(`{3,})$.*?^\1$", "", plain)
    assert "<script" not in outside and not LINK.search(outside) and "{{ 7 \\* 7 }}" in outside


def test_what_a_record_holds_stays_text():
    evil = copy.deepcopy(record(**dict.fromkeys(("arm", "network", "id", "time", "network_line"), EVIL), argv=[EVIL]))
    evil["measures"].update(subject=EVIL, value=EVIL, iteration=EVIL)
    evil["result"].update(device=EVIL, unit=EVIL)
    evil.update(notes=[EVIL], hosts=[{"name": EVIL, "slots": 1}], system={EVIL: {"os": EVIL, "gpu_names": [EVIL]}})
    verdict = {
        "summary": {"fail": 1},
        "hosts": {EVIL: {"checks": [dict.fromkeys(("id", "expected", "found", "fix"), EVIL)]}},
    }
    verdict["hosts"][EVIL]["checks"][0]["status"] = "fail"
    records = [broken(problems=[EVIL], log=EVIL, id=EVIL), evil]
    text = of_runs(records, verdict, [EVIL], EVIL, EVIL)
    assert "script" not in Page(text).tags and Page(text).text.count(EVIL) >= 10
    outside = re.sub(r"(?ms)^(`{3,})$.*?^\1$", "", text_of_runs(records, verdict, [EVIL], EVIL, EVIL))
    assert "<script" not in outside and not LINK.search(outside)


@pytest.mark.parametrize("text", ["a|b", "a\nb", "<b>", "a\\|b", "*a*", "`a", "_a_"])
def test_a_cell_of_a_table_stays_one(text):
    (row,) = [line for line in text_of_runs([record(network=text)]).splitlines() if line.startswith("| ok")]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 13 and "<" not in row


@pytest.mark.parametrize("note", ["# a", "- a", "1. a", "> a", "--- ", "+ a"])
def test_a_note_is_no_heading_and_no_list(note):
    assert f"- \\{note.strip()}" in text_of_runs([record(notes=[note])]).replace("1\\.", "\\1.")


def test_characters_that_cannot_be_seen_are_on_no_page():
    note = "a\x00b\x1b[31mc\u202ed\ud800e"
    for text in (of_runs([record(notes=[note])]), text_of_runs([record(notes=[note])])):
        assert not set("\x00\x1b\u202e\ud800") & set(text)


def test_a_command_can_not_end_its_block_and_can_be_pasted():
    records = [compared.record("a2", "zebra", argv=["mpirun", "```", "````"])]
    text = text_of_comparison(compared.comparison(), records)
    assert "\n`````\nmpirun '```' '````'\n`````\n" in text
    argv = [
        "docker",
        "exec",
        "t",
        "timeout",
        "-k",
        "10",
        "/usr/bin/mpirun",
        "-np",
        "4",
        "-x",
        "A=b c",
        "python3",
        "/s.py",
        "-m",
    ]
    shown = command_lines(argv)
    assert shlex.split(shown.replace("\\\n", "")) == argv
    assert shown.splitlines()[:2] == ["docker exec t timeout -k 10 /usr/bin/mpirun \\", "  -np 4 \\"]
    shown = command_lines(["mpirun", "-mca", "btl_tcp_if_include", "eth0", "all_reduce_perf", "-b", "1M"])
    assert shown.splitlines()[1:3] == ["  -mca btl_tcp_if_include eth0 \\", "  all_reduce_perf \\"]


def test_numbers_that_are_not_finite_are_left_out_of_every_drawing():
    found = compared.comparison()
    for case in found["cases"]:
        for arm in case["arms"]:
            arm["runs"][1].update(value=float("nan"), series=[float("inf"), float("nan"), 50.0])
        case["comparisons"][0].update(ratio=float("nan"), low=float("-inf"), high=float("inf"))
        for one in case["expected"]:
            one.update(measured_seconds=float("inf"))
    found["scaling"][0]["points"][0].update(efficiency=float("nan"))
    text = of_comparison(found, compared.records())
    assert len(drawings(text)) >= 6 and not re.search(r'"-?(nan|inf)', text)
    result = dict(record()["result"], series=[float("nan"), 10.0, float("inf"), 12.0])
    (chart,) = drawings(of_runs([record(result=result)]))
    assert len(list(chart.iter("circle"))) == 2


def test_each_arm_has_the_command_of_its_newest_good_run():
    text = unescape(page())
    for ran in ("a2", "b2", "c2", "d2", "e2"):
        assert f"'RUN={ran} |'" in text
    assert "RUN=a3" not in text and "RUN=a1" not in text


def test_where_arms_were_not_measured_alike_that_comes_first_of_all():
    text = page(unlike=UNLIKE, lab=True, complete=False, done=3)
    assert re.search(r'<header>\s*<p class="stop">NOT A LIKE-FOR-LIKE COMPARISON: Batch size differs', text)
    body = Page(text).text
    places = [body.index(words) for words in ("NOT A LIKE", "NOT COMPLETE: 3 of 16", "LAB:", "Does it train")]
    assert places == sorted(places)
    assert "NOT A LIKE" not in page() and "NOT COMPLETE" not in page()


def test_a_lossy_arm_is_marked_wherever_it_is_shown():
    found = page(unlike=UNLIKE, lab=True)
    text = Page(found).text + unescape(" ".join(re.findall(r'aria-label="([^"]*)"', found)))
    places = [one.end() for one in re.finditer(compared.LOSSY, text)]
    assert len(places) > 20
    for place in places:
        assert re.match(rf" \(?{re.escape(LOSSY)}", text[place:]), text[place - 40 : place + 40]
    assert not re.search(rf"(harp|tcp) \(?{re.escape(LOSSY)}", text)


@pytest.mark.parametrize("word", SYMBOLS)
def test_a_verdict_is_a_symbol_and_a_word_in_the_table_and_in_the_drawing(word):
    cases = compared.comparison()["cases"]
    cases[0]["comparisons"] = [compared.against_base("harp", 1.5, word, None)]
    text = page(cases=cases[:1])
    assert f'<td class="{word}">{SYMBOLS[word]} {word}</td>' in text
    assert re.search(rf'<text class="verdict {word}"[^>]*>1.50x {re.escape(SYMBOLS[word])} {word}</text>', text)


def test_runs_have_the_numbers_that_their_messages_had():
    text = Page(page()).text
    assert "zebra (lossy: top-k compression), run 5 of 16: 101.0 images/s" in text
    assert "tcp, warm-up run 1 of 16: 50.0 images/s" in text


def test_a_check_against_an_earlier_comparison_says_what_became_worse_and_what_is_not_as_it_was():
    text = Page(page(regression=compared.regression(), complete=False, done=3)).text
    assert "Each arm against itself in /results/old/comparison.json: 1 worse." in text
    assert "VGG16 zebra lossy: top-k compression ▼ worse 0.90x 0.80x to 1.00x 0.008 5 4 none Why worse." in text
    said = "What changed, and is part of these ratios: the GPU driver of gpu1 is 550 now and was 535. gpu2 took no"
    assert said in text
    found = page(regression=compared.regression(worse=[], unlike=[]))
    assert "none is worse and none is better." in found
    assert "REGRESSION CHECK" not in found and "What changed" not in found


def test_hosts_with_the_same_fault_share_a_row():
    check = dict.fromkeys(("id", "expected", "found", "fix"), "x")
    hosts = {f"gpu{number}": {"checks": [dict(check, status="fail")]} for number in range(40)}
    hosts["gpu7"]["checks"][0]["found"] = "y"
    text = Page(of_runs([], {"summary": {"fail": 40}, "hosts": hosts})).text
    assert "gpu0, gpu1, gpu2, gpu3, gpu4 and 34 more fail x x x x" in text and "gpu7 fail x x y x" in text


def test_the_settings_are_on_the_page_and_not_on_paper():
    text = page()
    assert '<pre class="screen">{' in text and ".screen { display: none; }" in text
    assert '"repeats": 5' in text_of_comparison(compared.comparison(), compared.records())


def test_the_style_sheet_has_only_values_of_css():
    displays = set(re.findall(r"display: ([a-z-]+)", page()))
    assert displays == {"block", "inline-block", "grid", "none"}


def test_names_of_cases_tell_them_apart():
    cases = compared.comparison()["cases"]
    for case, name in zip(cases, ("small", "large")):
        case.update(model=None, subject="train.sh", name=name)
    text = Page(page(cases=cases)).text
    assert "small (train.sh)" in text and "large (train.sh)" in text

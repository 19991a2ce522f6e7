# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page of a comparison: what it says and in which order, and that nothing in the data can change what it is."""

import re
from html import unescape

import compared
import pytest
from page import Page

from ansible_collections.taco.train.plugins.plugin_utils.comparison.wording import LOSSY, SYMBOLS
from ansible_collections.taco.train.plugins.plugin_utils.report import comparison_page

EVIL = "<script>alert('x')</script>|`\"&"
UNLIKE = ["Batch size differs: zebra (lossy: top-k compression) 8, tcp 16."]


def render(records=None, verdict=None, **changes):
    found = compared.records() if records is None else records
    return comparison_page.render(compared.comparison(**changes), found, verdict, "Title", "run-1")


def text_of(page):
    """Return all that is said, the titles in drawings and their labels included."""
    labels = " ".join(re.findall(r'aria-label="([^"]*)"', page))
    return Page(page).text + " " + unescape(labels)


def test_the_page_says_everything():
    text = text_of(render(verdict=compared.VERDICT))
    for words in (
        "Does it train faster? LightCC is better by 2.10x. 16 of 16 planned runs done, 1 failed; "
        "2026-01-31 12:00:00 to 2026-01-31 13:00:00 UTC.",
        "VGG16 zebra lossy: top-k compression ▲ better 2.10x 2.00x to 2.20x tcp 0.008 5 4 none Why better.",
        "VGG16 harp ? inconclusive 1.20x 0.95x to 1.45x tcp 0.008 5 4 7 Why inconclusive.",
        "ResNet50 zebra lossy: top-k compression ≈ equivalent 1.01x",
        "All of it: 2 nodes, 4 ranks, batch size 8, horovod_synthetic.",
        "The smallest difference that counts is 3.0 %.",
        "VGG16 zebra lossy: top-k compression It broke. logs/a3.log a3",
        "VGG16 zebra lossy: top-k compression 101.5 101.0 to 102.0 images/s 2 1 1",
        "VGG16, batch size 8 tcp 2 4 50.0 images/s 42.0 % 40.0 % to 44.0 % 1 GPU",
        "VGG16 tcp 12,345,678 0.5 s 0.64 s 1.28x",
        "VGG16 tcp 20.0 Gbit/s 25.0 Gbit/s 80.0 %",
        "ResNet50 PUBLISHED by the vendor Horovod + TCP 5504.0 images/s 16 vendor's page, 2 x A100 hosts",
        "ResNet50 measured here tcp 496.5 images/s 4 this run; GPUs: 2 (V100)",
        "zebra lossy: top-k compression LightCC and HARP on the image's LIGHT_TOPK_ALLREDUCE=1 LIGHT_TOPK_RATIO unset",
        "tcp, the baseline Horovod over kernel TCP off the image's nothing of its own",
        "Property gpu1, gpu2 System Debian 12",
        "Hugepages 20 x 1 GiB GPUs 2 (V100) Driver 470.82",
        "Image registry/image@sha256:abc Packages light-horovod 0.1",
        "top-k is lossy.",
        "warn gpu1 disk.free 50 40 make room",
        "Run run-1.",
    ):
        assert words in text, words
    assert "Regression" not in text and "LAB" not in text


def test_each_arm_has_the_command_of_its_newest_good_run():
    page = unescape(render())
    for ran in ("a2", "b2", "c2", "d2", "e2"):
        assert f"'RUN={ran} |'" in page
    assert "RUN=a3" not in page and "RUN=a1" not in page


def test_where_arms_were_not_measured_alike_that_comes_first_of_all():
    page = render(unlike=UNLIKE, lab=True, complete=False, done=3)
    assert '<body>\n<header><p class="stop">NOT A LIKE-FOR-LIKE COMPARISON: Batch size differs' in page
    body = Page(page).text
    places = [body.index(words) for words in ("NOT A LIKE", "NOT COMPLETE: 3 of 16", "LAB:", "Does it train")]
    assert places == sorted(places)
    assert "NOT A LIKE" not in render() and "NOT COMPLETE" not in render()


def test_a_lab_says_so_at_every_drawing_and_beside_published_figures():
    page = render(lab=True)
    assert page.count("<figure>") == page.count("<figcaption>Lab: ") == 8
    assert "measured here, in a lab" in page


def test_a_lossy_arm_is_marked_wherever_it_is_shown():
    text = text_of(render(unlike=UNLIKE, lab=True))
    places = [found.end() for found in re.finditer(compared.LOSSY, text)]
    assert len(places) > 20
    for place in places:
        assert re.match(rf" \(?{re.escape(LOSSY)}", text[place:]), text[place - 40 : place + 40]
    assert not re.search(rf"(harp|tcp) \(?{re.escape(LOSSY)}", text)


@pytest.mark.parametrize("word", SYMBOLS)
def test_a_verdict_is_a_symbol_and_a_word_in_the_table_and_in_the_drawing(word):
    cases = compared.comparison()["cases"]
    cases[0]["comparisons"] = [compared.against_base("harp", 1.5, word, None)]
    page = render(cases=cases[:1])
    assert f'<td class="{word}">{SYMBOLS[word]} {word}</td>' in page
    assert re.search(rf'<text class="verdict {word}"[^>]*>1.50x {re.escape(SYMBOLS[word])} {word}</text>', page)
    assert "can&#x27;t be estimated" in page


def test_a_check_against_an_earlier_comparison_says_what_became_worse_and_what_is_not_as_it_was():
    text = Page(render(regression=compared.regression(), complete=False, done=3)).text
    assert "Each arm against itself in /results/old/comparison.json: 1 worse." in text
    assert "VGG16 zebra lossy: top-k compression ▼ worse 0.90x 0.80x to 1.00x 0.008 none Why worse." in text
    assert "VGG16 harp ≈ equivalent 1.01x 0.91x to 1.11x 0.008 none Why equivalent." in text
    said = "What is not as it was, and is part of these ratios: the GPU driver of gpu1 is 550 now and was 535. gpu2 took no"
    assert said in text
    first = [
        "NOT COMPLETE",
        "NOT A LIKE-FOR-LIKE REGRESSION CHECK: 2 things are not as they were",
        "Does it train faster?",
    ]
    places = [text.index(words) for words in first]
    assert places == sorted(places)


def test_a_check_that_found_nothing_says_so_and_no_more():
    page = render(regression=compared.regression(worse=[], unlike=[]))
    assert "none is worse and none is better." in page
    assert "REGRESSION CHECK" not in page and "What is not as it was" not in page


def test_the_page_needs_nothing_beside_it_and_runs_nothing():
    page = render(verdict=compared.VERDICT)
    parsed = Page(page)
    assert set(parsed.links) == {"logs/a3.log"}
    assert not {"script", "link", "img", "iframe"} & set(parsed.tags)
    assert "url(" not in page and "@import" not in page and "http" not in page


@pytest.mark.parametrize("log", ["javascript:alert(1)", "/etc/passwd", "../../x", "https://x/y", "", None])
def test_only_a_log_beside_the_page_is_a_link(log):
    failures = [{"record": "a3", "arm": "tcp", "case": compared.VGG, "problems": [], "log": log}]
    assert Page(render(failures=failures)).links == []


def poisoned(value):
    """Return the same structure with every text replaced, keys of what users name included."""
    if isinstance(value, str):
        return EVIL
    if isinstance(value, list):
        return [poisoned(one) for one in value]
    if isinstance(value, dict):
        return {key: poisoned(one) for key, one in value.items()}
    return value


def test_what_the_data_holds_stays_text():
    found = poisoned(compared.comparison(unlike=["x"], regression=compared.regression()))
    found["arms"][0]["environment"] = {EVIL: EVIL}
    records = [
        dict(
            record,
            argv=[EVIL],
            notes=[EVIL],
            id=EVIL,
            system={EVIL: {EVIL: EVIL, "os": EVIL, "gpu_names": [EVIL]}},
        )
        for record in compared.records()
    ]
    page = comparison_page.render(found, records, None, EVIL, EVIL, [EVIL])
    assert "<script" not in page
    assert "script" not in Page(page).tags
    assert Page(page).text.count(EVIL) > 50


def test_nothing_measured_is_still_a_whole_page():
    page = comparison_page.render({"schema": 1, "cases": [], "arms": []}, [], None, "Title", "run-1")
    assert Page(page).tags.count("h1") == 1
    assert "No verdict." in page and "None" not in page and "<table" not in page and "<svg" not in page

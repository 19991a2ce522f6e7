# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pages, texts and drawings as a reader gets them, for tests."""

import re
from xml.etree import ElementTree

from ansible_collections.taco.train.plugins.plugin_utils.report import comparison_page, run_page
from ansible_collections.taco.train.plugins.plugin_utils.report.document import Document, brief
from ansible_collections.taco.train.plugins.plugin_utils.report.render import html, markdown


def of_runs(*given):
    """The page of runs."""
    return html(run_page.document(*given))


def text_of_runs(*given):
    """The Markdown of runs."""
    return markdown(run_page.document(*given))


def of_comparison(*given):
    """The page of a comparison."""
    return html(comparison_page.document(*given))


def text_of_comparison(*given):
    """The Markdown of a comparison."""
    return markdown(comparison_page.document(*given))


def shown_of_comparison(*given):
    """What a terminal shows of a comparison."""
    return markdown(brief(comparison_page.document(*given)))


def drawings(page):
    """The drawings of a page."""
    return [ElementTree.fromstring(one) for one in re.findall(r"(?s)<svg.*?</svg>", page)]


def drawing(charts):
    """The one drawing of a list of charts."""
    (found,) = drawings(html(Document("Title", [], charts, [], "")))
    return found


def marked(found, css):
    """The elements of a drawing that have these classes."""
    return [one for one in found.iter() if set(css.split()) <= set((one.get("class") or "").split())]

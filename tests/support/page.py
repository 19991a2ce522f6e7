# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A page as a reader gets it, for tests."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Text and tags of a page, and whether each tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("href", "src")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


BLOCKS = {"title", "h1", "h2", "h3", "p", "li", "tr", "pre", "figcaption", "footer", "text", "svg"}


class Lines(HTMLParser):
    """What a page says, a line for each heading, paragraph, row and text of a drawing."""

    def __init__(self, text):
        super().__init__()
        self.lines, self.quiet = [[]], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.quiet = tag == "style"
        self.lines += [[]] if tag in BLOCKS else []
        label = dict(attributes).get("aria-label")
        self.lines += [[label]] if label else []

    def handle_endtag(self, tag):
        self.quiet = False
        self.lines += [[]] if tag in BLOCKS else []

    def handle_data(self, data):
        if not self.quiet:
            self.lines[-1].append(data)


def lines_of(text):
    """The lines of a page that are not empty. Cells of a row are apart, whatever the markup between them."""
    lines = [" ".join(" ".join(parts).split()) for parts in Lines(text).lines]
    return [line for line in lines if line]

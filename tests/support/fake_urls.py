# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ansible's open_url for a server that is a dictionary."""

import io
from urllib.error import HTTPError, URLError


class FakeServer:
    """Answers for its host with its pages, {path: bytes, or an exception of the connection}, and records the requested paths."""

    url = "http://server.example"

    def __init__(self, **pages):
        self.pages = pages
        self.requests = []

    def open_url(self, url, **_options):
        if not url.startswith(self.url + "/"):
            raise URLError("Connection refused")
        path = url[len(self.url) + 1 :]
        self.requests.append(path)
        if path not in self.pages:
            raise HTTPError(url, 404, "Not Found", {}, None)
        page = self.pages[path]
        return io.BytesIO(page) if isinstance(page, bytes) else _Cut(page)


class _Cut(io.BytesIO):
    """An answer whose connection ends with an exception, as that of http.client."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def read(self, *_most):
        raise self.error

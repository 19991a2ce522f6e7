# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A download is complete or an OSError."""

import gzip
import http.server
import threading

import pytest

from ansible_collections.taco.train.plugins.module_utils._files.download import open_url, read_url

CONTENT = b"of the server" * 100
PACKED = gzip.compress(CONTENT)
GZIP = {"Content-Encoding": "gzip"}
PAGES = {
    "/whole": (CONTENT, len(CONTENT), {}),
    "/without-length": (CONTENT, None, {}),
    "/packed": (PACKED, len(PACKED), GZIP),
    "/short": (CONTENT, len(CONTENT) + 7, {}),
    "/empty": (b"", 7, {}),
    "/packed-short": (PACKED[:-9], len(PACKED), GZIP),
    "/packed-cut": (PACKED[:-9], len(PACKED) - 9, GZIP),
    "/packed-damaged": (PACKED[:10] + b"\xff" * 20, 30, GZIP),
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        content, length, headers = PAGES[self.path]
        self.send_response(200)
        for name, value in {**headers, **({} if length is None else {"Content-Length": str(length)})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments):
        pass


@pytest.fixture(scope="module")
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def read(url, most=100000):
    return read_url(url, most, open_url, timeout=10, use_proxy=False)


@pytest.mark.parametrize("page", ["/whole", "/without-length", "/packed"])
def test_a_whole_download_is_its_content(server, page):
    assert read(server + page) == CONTENT
    # Whoever reads less than there is knows how much that was.
    assert read(server + page, 5) == CONTENT[:5]


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("/short", "after 1300 of 1307 bytes"),
        ("/empty", "after 0 of 7 bytes"),
        ("/packed-short", "EOFError"),
        ("/packed-cut", "EOFError"),
        ("/packed-damaged", "error: .*decompressing"),
    ],
)
def test_a_part_of_a_download_is_an_error(server, page, reason):
    with pytest.raises(OSError, match=reason):
        read(server + page)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the content of a URL with Ansible's open_url, its proxies and its certificates."""

from typing import Any, Callable


def open_url(*arguments: Any, **options: Any) -> Any:
    """Open a URL. The import takes longer than the check of a configured host, so only a run that needs it pays for it."""
    from ansible.module_utils import urls

    return urls.open_url(*arguments, **options)


def read_url(url: str, most: int, opened: Callable[..., Any], **options: Any) -> bytes:
    """At most so many bytes of a URL, by an open_url. Raises OSError for everything that the network or the server does wrong."""
    # Imported only here, as above.
    import zlib
    from http.client import HTTPException

    try:
        answer = opened(url, **options)
        content = bytes(answer.read(most))
    # No OSError: an answer that ends too early, that is no HTTP, or whose compressed content is cut or damaged.
    except (HTTPException, EOFError, zlib.error) as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
    # What is left of Content-Length, None where the server does not send it. A read of so many bytes ends early without an error.
    left = getattr(answer, "length", None)
    if left and len(content) < most:
        raise OSError(f"the server closed the connection after {len(content)} of {len(content) + left} bytes")
    return content

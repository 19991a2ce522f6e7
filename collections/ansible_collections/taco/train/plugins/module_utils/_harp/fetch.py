# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Get the bytes of the setup script from the options, a file on the host or a URL."""

from typing import Any, Callable, Mapping

from ansible_collections.taco.train.plugins.module_utils._files.atomic import read_bytes
from ansible_collections.taco.train.plugins.module_utils._files.download import read_url
from ansible_collections.taco.train.plugins.module_utils._harp.harp import HarpError, is_url

LARGEST_SCRIPT = 8 * 1024 * 1024
DOWNLOAD_SECONDS = 60


def fetch_script(options: Mapping[str, Any], open_url: Callable[..., Any]) -> bytes:
    """Return the bytes of the script, or raise HarpError."""
    script = options["script"]
    if options["script_content"] is not None:
        return str(options["script_content"]).encode("utf-8")
    if is_url(script):
        return _download(script, open_url)
    content = read_bytes(script)
    if content is None:
        raise HarpError(
            f"there is no {script} on this host: set script (harp_script, which may be a file on the controller too) to a "
            "path that is there, or to a URL"
        )
    return content


def _download(script: str, open_url: Callable[..., Any]) -> bytes:
    if not script.lower().startswith(("http://", "https://")):
        raise HarpError(f"{script} can't be downloaded: use http or https in script (harp_script)")
    try:
        content = read_url(script, LARGEST_SCRIPT + 1, open_url, timeout=DOWNLOAD_SECONDS, http_agent="taco.train")
    except OSError as error:
        raise HarpError(
            f"{script} can't be downloaded: {error}. Set script (harp_script) to a URL or path that works"
        ) from error
    if len(content) > LARGEST_SCRIPT:
        raise HarpError(
            f"{script} is larger than {LARGEST_SCRIPT} bytes and no setup script: correct script (harp_script)"
        )
    return content

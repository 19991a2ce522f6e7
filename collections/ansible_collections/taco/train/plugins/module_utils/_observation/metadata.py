# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the instance metadata from its service."""

import time
from typing import Any, Callable, Dict, Optional

from ansible_collections.taco.train.plugins.module_utils._files.download import read_url
from ansible_collections.taco.train.plugins.module_utils._node.metadata import (
    BASE,
    Get,
    MetadataError,
    is_tencent,
    read_metadata,
)
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root

AUTO = "auto"
# YAML reads an unquoted off as a boolean.
OFF = ("off", "false", "no", "")
# A metadata service is on the host's own network and answers at once, or not at all.
ANSWER_SECONDS = 3
# The limit for all answers together: a slow service must not delay the play.
TOTAL_SECONDS = 30
LARGEST_ANSWER = 65536


def metadata(root: Root, source: str, open_url: Callable[..., Any]) -> Optional[Dict[str, Any]]:
    """Return the metadata of the instance, or None. A missing answer is an error only where the source is a URL."""
    if source.lower() in OFF or (source == AUTO and not _is_instance(root)):
        return None
    base = BASE if source == AUTO else source.rstrip("/") + "/"
    try:
        return dict(read_metadata(_reader(base, open_url)), url=base)
    except (OSError, MetadataError) as error:
        if source == AUTO:
            return None
        raise MetadataError(f"{base}: {error}; correct the option metadata, or set it to off") from error


def _is_instance(root: Root) -> bool:
    names = ("sys_vendor", "chassis_asset_tag", "bios_vendor")
    return root.is_running_system and is_tencent(*(root.text("/sys/class/dmi/id/" + name) for name in names))


def _reader(base: str, open_url: Callable[..., Any]) -> Get:
    # Imported only here, since few observations need it.
    from urllib.error import HTTPError

    end = time.monotonic() + TOTAL_SECONDS

    def get(path: str) -> Optional[str]:
        if time.monotonic() > end:
            raise MetadataError(f"not all answers came within {TOTAL_SECONDS} s")
        try:
            answer = read_url(base + path, LARGEST_ANSWER, open_url, timeout=ANSWER_SECONDS, use_proxy=False)
        except HTTPError as error:
            if error.code == 404:
                return None
            raise
        return answer.decode("utf-8", "replace").strip()

    return get

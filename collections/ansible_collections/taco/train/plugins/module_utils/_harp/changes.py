# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decide which files get another content, and show the difference."""

from typing import Dict, List, Mapping, NamedTuple, Optional

from ansible_collections.taco.train.plugins.module_utils._files.atomic import read_bytes


def text_of(content: Optional[bytes]) -> str:
    return (content or b"").decode("utf-8", "replace")


class Change(NamedTuple):
    """The content of a file before and after a change."""

    path: str
    before: Optional[bytes]
    after: bytes


def difference(path: str, before: Optional[bytes], after: Optional[bytes]) -> Dict[str, str]:
    """Return the difference of a file as modules return it. A content is None where there is no file."""
    header = path if after is not None else path + " (absent)"
    return dict(before=text_of(before), after=text_of(after), before_header=path, after_header=header)


def changes(contents: Mapping[str, str]) -> List[Change]:
    """Return the changes of the files that don't have these contents, by path."""
    files = [Change(path, read_bytes(path), contents[path].encode("utf-8")) for path in sorted(contents)]
    return [file for file in files if file.before != file.after]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Python prints chains of exceptions: find in each the exception that is the cause, and those that wrap it or follow from it."""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Set

from ansible_collections.taco.train.plugins.plugin_utils.workloads.lines import Line

BEGIN = "Traceback (most recent call last):"
# Code in a traceback is indented by 4 blanks, of which a tag takes one.
CODE = "   "
HANDLING = "During handling of the above exception, another exception occurred:"
DIRECT = "The above exception was the direct cause of the following exception:"
# Another process printed the traceback that follows.
WRAPPER = re.compile(
    r"Caught \w+ in (?:DataLoader worker|replica|pin memory)|ProcessRaisedException|^\S*RemoteTraceback"
)
# Programs handle these as a matter of course, such as a module that isn't there: what fails then is the next exception.
HANDLED = re.compile(
    r"(?:[\w.]+\.)?(?:KeyError|IndexError|AttributeError|ImportError|ModuleNotFoundError|Empty|StopIteration|FileNotFoundError|"
    r"FileExistsError|UnicodeDecodeError|NotImplementedError|TypeError|JSONDecodeError|CalledProcessError|_NotOkStatusException|NotFound)\b"
)
# Such exceptions say nothing, also where the next one was raised from them.
EMPTY = re.compile(r"(?:[\w.]+\.)?(?:KeyError|Empty|StopIteration|CalledProcessError)\b")
# Such exceptions say less of a connection than those that follow, which name the server and what was read from it.
CONNECTION = re.compile(
    r"\S*(?:Connect|Network|Time[Oo]ut|BrokenPipe|HTTP|SSL|URL|Proxy|Resolution|MaxRetry|Protocol)\w*(?:Error|Exception)?\b|"
    r"socket\.\w+|(?:OSError|RuntimeError): (?:\[Errno (?:32|10[014]|11[0123]|-[235])\]|Connection |Broken pipe|connect\(\))|"
    r"(?:requests|urllib3?|httpx|httpcore|aiohttp)\."
)
# Code of launchers, which fails before the script or reports its end.
LAUNCHER = re.compile(
    r"/(?:horovodrun|torchrun|deepspeed|accelerate)$|/horovod/run(?:ner)?/|/torch/distributed/(?:run|launch\w*|launcher/.*)\.py|"
    r"/torch/distributed/elastic/|/deepspeed/launcher/|/accelerate/commands/"
)
FRAME = re.compile(r'^ {1,12}File "(?P<path>[^"\n]{1,400})", line (?P<number>\d{1,7})')
# With it a launcher reports that a process ended, whose own error stands before.
REPORTS = re.compile(r"(?:[\w.]+\.)?(?:ChildFailedError|CalledProcessError|SystemExit)\b")


class Link(NamedTuple):
    """An exception, and how the next one follows from it."""

    number: int
    text: str
    kind: str = ""


def secondary(lines: Sequence[Line]) -> Set[int]:
    """The numbers of the lines with exceptions that are not the cause of their chain, and with code. Each rank has its own chains."""
    streams: Dict[Optional[int], List[int]] = {}
    for number, line in enumerate(lines):
        streams.setdefault(line.rank, []).append(number)
    return {number for stream in streams.values() for number in secondary_of(lines, stream)}


def secondary_of(lines: Sequence[Line], stream: Sequence[int]) -> List[int]:
    """The numbers of such lines among those of one rank."""
    numbers: List[int] = []
    root: Optional[Link] = None
    in_frames = False
    for number in stream:
        text = lines[number].text.rstrip()
        if text.endswith(BEGIN):
            if root and not root.kind:
                if WRAPPER.search(root.text):
                    numbers.append(root.number)
                root = None
            in_frames = True
        elif in_frames and text.startswith(CODE):
            numbers.append(number)
        elif in_frames and text and not text[0].isspace():
            in_frames = False
            if root is None:
                root = Link(number, text)
            elif (HANDLED if root.kind == HANDLING else EMPTY).match(root.text):
                numbers.append(root.number)
                root = Link(number, text)
            else:
                numbers += [] if CONNECTION.match(root.text) else [number]
                root = root._replace(kind="")
        elif root and text in (HANDLING, DIRECT):
            root = root._replace(kind=text)
    return numbers


def of_launcher(lines: Sequence[Line]) -> Set[int]:
    """The numbers of the lines of launchers' tracebacks, which only report that a process ended."""
    numbers: Set[int] = set()
    block: List[int] = []
    for number, line in enumerate(lines):
        text = line.text.rstrip()
        if text.endswith(BEGIN):
            block = [number]
        elif block:
            block.append(number)
            if text and not text[0].isspace():
                frames = (FRAME.match(lines[place].text) for place in block)
                if REPORTS.match(text) and any(LAUNCHER.search(match["path"]) for match in frames if match):
                    numbers.update(block)
                block = []
    return numbers

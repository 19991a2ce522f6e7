# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read and edit assignments in a file of shell variables such as /etc/default/grub. Text in, text out.

Only what must change changes: comments, quotes, line ends, continuation lines and everything else stay byte for byte. What
this can't understand well enough to edit it refuses.
"""

import re
from typing import Callable, Dict, Iterable, List, Match, NamedTuple, Optional, Sequence

_START = re.compile(r"(?:export[ \t]+)?(?P<key>[A-Za-z_][A-Za-z0-9_]*)(?P<operator>\+?=)")
# Where a word of a value may begin or end: white space, a continued line, a quote, or the value's own ends.
_WORD = re.compile(r"(?:(?!\\\r?\n)[^\s\"'])+")
# Commands after which others run on a condition, several times or later, and what ends these.
_OPENING = re.compile(
    r"(?:if|case|for|while|until|select)\b|(?:function[ \t]+\S+?[ \t]*(?:\(\))?|\w+[ \t]*\(\))?[ \t]*\{(?=\s|$)|\((?!.*\))"
)
_CLOSING = re.compile(r"(?:fi|esac|done)\b|[})]")
# Commands after which a shell reads no more of a file (return) or of all files; exec that only opens files is none.
_END = re.compile(
    r"(?:^|[;&|{)]|\b(?:then|else|do)\b)\s*(?:command\s+)?(return|exit|logout|kill|exec(?!\s*\d*[<>]))(?![\w=-])"
)
_HERE_DOCUMENT = re.compile(r"(?<!<)<<-?[ \t]*[\"'\\]?(\w+)")
_EXPANSION = re.compile(r"\$(?:\{(\w+)\}|([A-Za-z_]\w*))")
_ALTERNATIVE = re.compile(r"\$\{(\w+)(:?)([-+])")


class ShError(Exception):
    """The text has an assignment that can't be understood or edited."""


class Assignment(NamedTuple):
    """One assignment: where its value stands in the text, and the value with its quotes. Any other command has no key."""

    key: str
    operator: str  # = or +=
    start: int
    end: int
    raw: str
    certain: bool = True  # it runs once, whatever the rest of the text does
    ends: str = ""  # the word by which a command may end the reading, such as return


def _unread(text: str, start: int, reason: str) -> ShError:
    return ShError(f"line {text.count(chr(10), 0, start) + 1}: {reason}")


def _value_end(text: str, start: int) -> int:
    """Return where the value that begins at start ends, as a shell reads it."""
    index, quote = start, ""
    while index < len(text):
        letter = text[index]
        if letter == "\\" and quote != "'":
            index += 3 if text.startswith("\\\r\n", index) else 2
            continue
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'`":
            if text.startswith("$'", index - 1) and "\\" in text[index : text.find("'", index + 1)]:
                raise _unread(text, start, "$'...' with a backslash is not read here: use plain quotes")
            quote = letter
        elif text.startswith("$(", index):
            index = _closing(text, index + 2, "(", ")")
            continue
        elif text.startswith("${", index):
            index = _closing(text, index + 2, "{", "}")
            continue
        elif letter in " \t\r\n;&|":
            return index
        index += 1
    if quote:
        raise _unread(text, start, f"the quote {quote} is not closed: close it (bash -n shows it too)")
    return min(index, len(text))


def _closing(text: str, start: int, opening: str, closing: str) -> int:
    """Return where what $( or ${ opened before start ends."""
    depth = 1
    for index in range(start, len(text)):
        depth += {opening: 1, closing: -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    raise _unread(text, start, f"${opening} is not closed: close it (bash -n shows it too)")


def assignments(text: str) -> List[Assignment]:
    """Return the assignments of a text that stand at the beginning of a command, and its other commands, in order."""
    found, opened, index = [], [], 0  # type: List[Assignment], List[str], int
    while index < len(text):
        if text[index] in " \t\r\n;":
            index += 1
            continue
        if text[index] == "#":
            index = _line_end(text, index)
            continue
        match = _START.match(text, index)
        if not match:
            end = _command_end(text, index)
            command = text[index:end]
            opening = _OPENING.match(command)
            function = opening is not None and "()" in re.sub(r"function[ \t].*|\s", "()", opening.group())
            ending = None if function or opened[-1:] == ["("] or "()" in opened else _END.search(command)
            found.append(Assignment("", "", index, end, command, False, ending.group(1) if ending else ""))
            ends = opened[-1:] == ["("] and command.rstrip().endswith(")") and command.count(")") > command.count("(")
            if ends or _CLOSING.match(command):
                opened = opened[:-1]
            opened += ["()" if function else opening.group()[-1]] if opening else []
            index = end
            continue
        end = _value_end(text, match.end())
        raw = text[match.end() : end]
        found.append(Assignment(match.group("key"), match.group("operator"), match.end(), end, raw, not opened))
        index = end
    return found


def _line_end(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end + 1


def _command_end(text: str, index: int) -> int:
    """Return where a command ends, together with its here-document."""
    start = index
    while index < len(text) and text[index] not in "\n;":
        index = max(_value_end(text, index), index + 1)
        while index < len(text) and text[index] in " \t\r&|":
            index += 1
        if index < len(text) and text[index] == "#":
            break
    here = _HERE_DOCUMENT.search(text, start, index)
    if not here:
        return index
    last = re.compile(rf"^\t*{here.group(1)}\r?$", re.MULTILINE).search(text, index)
    return last.end() if last else len(text)


def has_substitution(raw: str) -> bool:
    """Say whether a value holds a command whose output only the shell knows."""
    return re.search(r"(?<!\\)(?:`|\$\()", re.sub(r"'[^']*'", "", raw)) is not None


def expand(raw: str, variables: Dict[str, str]) -> str:
    """Return a value as the shell would, with variables put in.

    A command substitution, and an expansion that is neither a variable nor an alternative to it, stay as they are written.
    """
    result, index, quote = [], 0, ""
    while index < len(raw):
        letter = raw[index]
        if quote == "'":
            quote = "" if letter == "'" else quote
            result += [] if letter == "'" else [letter]
        elif letter == "\\":
            step = 3 if raw.startswith("\\\r\n", index) else 2
            following = raw[index + 1 : index + step]
            if following.strip("\r\n"):
                # Between double quotes a backslash is itself unless it stands before one of these.
                result.append(following if not quote or following in '$`"\\' else letter + following)
            index += step
            continue
        elif letter == '"' or (letter == "'" and not quote):
            quote = "" if letter == quote else letter
        elif letter == "$":
            match = _EXPANSION.match(raw, index)
            if match:
                result.append(variables.get(match.group(1) or match.group(2), ""))
                index = match.end()
                continue
            other = _ALTERNATIVE.match(raw, index)
            if other:
                end = _closing(raw, index + 2, "{", "}")
                result.append(_alternative(other, raw[other.end() : end - 1], variables))
                index = end
                continue
            # In $'...' and $"..." the sign belongs to the quotes.
            result += [] if not quote and raw[index + 1 : index + 2] in ("'", '"') else [letter]
        else:
            result.append(letter)
        index += 1
    return "".join(result)


def _alternative(match: Match[str], inner: str, variables: Dict[str, str]) -> str:
    """Return what ${NAME:-inner}, ${NAME:+inner} and the same without a colon give."""
    name, colon, sign = match.groups()
    there = bool(variables.get(name)) if colon else name in variables
    if sign == "+":
        return expand(inner, variables) if there else ""
    return variables[name] if there else expand(inner, variables)


def evaluate(found: Iterable[Assignment], names: Sequence[str]) -> Dict[str, str]:
    """The values of variables after assignments in this order; one never assigned is empty."""
    variables = {}  # type: Dict[str, str]
    for one in found:
        if not one.key:
            continue
        value = expand(one.raw, variables)
        variables[one.key] = variables.get(one.key, "") + value if one.operator == "+=" else value
    return {name: variables.get(name, "") for name in names}


def words(raw: str) -> List[str]:
    """Return the words of a value as they stand between its quotes."""
    return _WORD.findall(raw)


def _is_quoted(raw: str, place: int) -> bool:
    """Say whether a place of a value stands between quotes."""
    try:
        _value_end(raw[:place], 0)
    except ShError:
        return True
    return False


def edit_words(raw: str, change: Callable[[List[str]], Dict[int, Optional[str]]]) -> str:
    """Return a value with some of its words replaced or removed, together with the white space before them.

    change gets the words and returns index -> new text, None to remove. Everything else of the value stays as it is.
    """
    matches = list(_WORD.finditer(raw))
    changes = change([match.group() for match in matches])
    if changes and has_substitution(raw):
        raise ShError(f"{raw}: it holds a command substitution; take the hugepage arguments out of it by hand")
    for index in sorted(changes, reverse=True):
        start, end = matches[index].span()
        new = changes[index]
        if new is None:
            spaces = re.compile(r"[ \t]*\Z").search(raw, 0, start)
            start = spaces.start() if spaces else start
            if start == 0 or raw[start - 1] in "\"'\n":
                # First in its quotes or on its line: the white space behind it goes instead.
                start = matches[index].start()
                behind = re.compile(r"[ \t]*").match(raw, end)
                end = behind.end() if behind else end
        elif " " in new and not _is_quoted(raw, start):
            new = '"' + new + '"'
        raw = raw[:start] + (new or "") + raw[end:]
    return raw


def append_words(raw: str, added: Sequence[str], operator: str = "=") -> str:
    """Return a value with words added at its end, inside its own quotes."""
    text = " ".join(added)
    inner = raw.rstrip()
    if operator == "+=" and inner in ("", '""', "''"):
        # What it is added to may end with a word.
        return '" ' + text + '"'
    if len(inner) >= 2 and inner[-1] in "\"'" and inner[0] == inner[-1]:
        content = inner[1:-1]
        space = "" if not content or content[-1] in " \t" else " "
        return inner[:-1] + space + text + inner[-1]
    if not inner:
        return '"' + text + '"'
    if re.search(r"[\"'\\`$]", inner):
        # Several quoted parts side by side: one more part is the same value.
        return inner + '" ' + text + '"'
    return '"' + inner + " " + text + '"'


def render(text: str, found: Sequence[Assignment]) -> str:
    """The text from which assignments were parsed, with the values that they have now."""
    for one in reversed(found):
        text = text[: one.start] + one.raw + text[one.end :]
    return text

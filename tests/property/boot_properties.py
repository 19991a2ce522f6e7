# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kernel lines and GRUB files, made from seeds and compared with the rules and a real shell."""

import os
import random
import subprocess

import pytest

from ansible_collections.taco.train.plugins.module_utils._boot.change import apply, restore
from ansible_collections.taco.train.plugins.module_utils._boot.config import BootConfig, decode
from ansible_collections.taco.train.plugins.module_utils._boot.entries import grubenv, with_variable
from ansible_collections.taco.train.plugins.module_utils._boot.guard import Guard
from ansible_collections.taco.train.plugins.module_utils._boot.hugepages import plan
from ansible_collections.taco.train.plugins.module_utils._boot.kernel_args import (
    KernelLine,
    wanted_tokens,
)
from ansible_collections.taco.train.plugins.module_utils._boot.layout import DEFAULTS, DROP_INS, BootLayout
from ansible_collections.taco.train.plugins.module_utils._boot.model import KEYS, parse
from ansible_collections.taco.train.plugins.module_utils._boot.number_of_pages import HugepagesError
from ansible_collections.taco.train.plugins.module_utils._boot.shell_assignments import (
    assignments,
    edit_words,
    evaluate,
    render,
)
from ansible_collections.taco.train.plugins.module_utils._files.history import History

SEEDS = range(3)
LINES_PER_SEED = 300
FILES_PER_SEED = 100

OTHERS = """quiet splash ro rhgb crashkernel=auto net.ifnames=0 console=tty1 console=ttyS0,115200n8 rd.lvm.lv=vg/root
    root=UUID=1f2e-3d4c iommu=pt intel_iommu=on transparent_hugepage=never nohugepages=1 hugepages_x=2 isolcpus=2-5,8""".split()
SIZES = ("1G", "1GB", "1g", "1024M", "2M", "2MB", "2048K", "512M")


def hugepage_tokens(rng):
    """Return arguments as the documents' sed, other tools and people leave them."""
    size = rng.choice(SIZES)
    return rng.choice(
        [
            [f"default_hugepagesz={size}", f"hugepagesz={size}", f"hugepages={rng.randrange(100)}"],
            [f"hugepagesz={size}", f"hugepages={rng.randrange(100)}"],
            [f"hugepages={rng.randrange(100)}"],
            [f"default_hugepagesz={size}"],
            [f"hugepagesz={size}"],
        ]
    )


def line(rng):
    tokens = []
    for _part in range(rng.randrange(8)):
        tokens += hugepage_tokens(rng) if rng.random() < 0.4 else [rng.choice(OTHERS)]
    return tokens


def unrelated(tokens):
    names = ("hugepages=", "hugepagesz=", "default_hugepagesz=")
    return [token for token in tokens if not token.startswith(names)]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_line_gets_the_pages_once_and_keeps_everything_else(seed):
    rng = random.Random(seed)
    for _number in range(LINES_PER_SEED):
        tokens, size, count = line(rng), rng.choice(["1G", "2M"]), rng.randrange(1, 100)
        before = KernelLine(tokens)
        new = before.with_pages(size, count)
        after = KernelLine(new)
        assert after.problems(size, count) == [] and after.count(size) == count and after.default_size == size, tokens
        assert after.with_pages(size, count) == after.corrected(size, count) == new, tokens
        assert new[-3:] == wanted_tokens(size, count)
        assert unrelated(new) == unrelated(tokens), tokens
        others = [(found.size, found.number) for found in before.others(size)]
        assert [(found.size, found.number) for found in after.others(size)] == others, tokens
        bare = before.without(size)
        assert KernelLine(bare).without(size) == bare, tokens
        if not any("hugepage" in token for token in tokens):
            assert bare == tokens


def value(rng, tokens):
    """Return tokens as somebody may have written them behind a key."""
    text = rng.choice([" ", " ", "  "]).join(tokens)
    if not tokens and rng.random() < 0.5:
        return ""
    form = rng.randrange(6)
    if form == 0 and len(tokens) == 1:
        return text
    if form == 1:
        return "'" + text + "'"
    if form == 2 and len(tokens) > 1:
        return '"' + tokens[0] + " \\\n" + " ".join(tokens[1:]) + '"'
    if form == 3:
        return '" ' + text + ' "'
    return '"' + text + '"'


def grub_text(rng, newline="\n"):
    """Return a file of assignments with comments, other keys, several of one key, += and $VAR."""
    lines = []
    for _number in range(rng.randrange(1, 7)):
        kind = rng.randrange(8)
        key = rng.choice(KEYS)
        if kind == 0:
            lines.append(rng.choice(['# GRUB_CMDLINE_LINUX="hugepages=9"', "", "   # it's a comment"]))
        elif kind == 1:
            lines.append(rng.choice(["GRUB_TIMEOUT=5", "GRUB_DISTRIBUTOR=`echo Debian`", 'export GRUB_COLOR="it\'s"']))
        elif kind == 2:
            lines.append(f"{key}+=" + value(rng, [""] + line(rng)) + rng.choice(["", "  # mine"]))
        elif kind == 3:
            lines.append(f'{key}="${key} ' + " ".join(line(rng)) + '"')
        else:
            lines.append(f"{key}=" + value(rng, line(rng)) + rng.choice(["", "  # mine"]))
    return newline.join(lines) + rng.choice(["", newline])


def files_of(rng, layout):
    files = {DEFAULTS: grub_text(rng)} if rng.random() < 0.9 else {}
    if layout == "grub-d" and rng.random() < 0.5:
        files[f"{DROP_INS}/50-cloudimg-settings.cfg"] = grub_text(rng)
    return files


def applied(files, changes):
    result = dict(files, **{path: text for path, text in changes.items() if text is not None})
    return {path: text for path, text in result.items() if changes.get(path, text) is not None}


@pytest.mark.parametrize("seed", SEEDS)
def test_files_reserve_the_pages_once_and_keep_everything_else(seed):
    rng = random.Random(seed)
    refused = 0
    for _number in range(FILES_PER_SEED):
        layout = rng.choice(["grub-d", "grub-default"])
        files, count = files_of(rng, layout), rng.randrange(1, 100)
        # Parsing and rendering what was parsed gives the same bytes.
        for text in files.values():
            found = [one._replace(raw=edit_words(one.raw, lambda words: {})) for one in assignments(text)]
            assert render(text, found) == text
        before = parse(files).line.tokens
        try:
            planned = plan(layout, parse(files), "1G", count, [])
        except HugepagesError:
            # What belongs together stands in two assignments; nothing was planned.
            refused += 1
            continue
        after = applied(files, planned.files)
        assert parse(after).line.problems("1G", count) == [], files
        assert parse(after).line.tokens == planned.line.tokens
        assert unrelated(planned.line.tokens) == unrelated(before), files
        again = plan(layout, parse(after), "1G", count, wanted_tokens("1G", count))
        assert again.files == {}, files
        if layout == "grub-d":
            # Of the files that are there, only those that say something of pages change, and removal leaves them.
            assert all("hugepages" in files[path] for path in planned.files if path in files), files
            (made,) = set(after) - set(files)
            assert plan(layout, parse(after), "1G", None, wanted_tokens("1G", count)).files == {made: None}
        back = applied(after, plan(layout, parse(after), "1G", None, wanted_tokens("1G", count)).files)
        assert unrelated(parse(back).line.tokens) == unrelated(before), files
        assert wanted_tokens("1G", count) not in [
            parse(back).line.tokens[place : place + 3] for place in range(len(before))
        ], files
    assert refused < FILES_PER_SEED / 2


@pytest.mark.parametrize("seed", SEEDS)
def test_a_shell_reads_the_same_values_out_of_a_file(seed, tmp_path):
    rng = random.Random(seed)
    texts = [grub_text(rng) for _number in range(FILES_PER_SEED)]
    script = ""
    for number, text in enumerate(texts):
        (tmp_path / str(number)).write_text(text)
        shown = " ".join(f'"${key}"' for key in KEYS)
        script += f"unset {' '.join(KEYS)}; . {tmp_path}/{number}; printf '%s\\0' {shown}\n"
    (tmp_path / "script").write_text(script)
    done = subprocess.run(["bash", str(tmp_path / "script")], stdout=subprocess.PIPE, check=True)
    said = done.stdout.decode().split("\0")[:-1]
    for number, text in enumerate(texts):
        mine = evaluate(assignments(text), KEYS)
        assert [mine[key] for key in KEYS] == said[2 * number : 2 * number + 2], text


def test_an_environment_block_keeps_its_size_and_its_other_variables():
    rng = random.Random(1)
    for _number in range(200):
        known = {f"name_{place}": " ".join(line(rng)) for place in range(rng.randrange(6))}
        text = ""
        for name, content in known.items():
            text = with_variable(text, name, content)
        text = with_variable(text, "next_entry", "trial")
        assert grubenv(text) == dict(known, next_entry="trial")
        assert len(text.encode()) % 1024 == 0
        assert grubenv(with_variable(text, "next_entry", None)) == known


class Host:
    """A host below a folder whose generator puts the kernel line of the files on one entry."""

    def __init__(self, root, layout, files):
        self.root = root
        config = "/boot/grub/grub.cfg"
        self.config = BootConfig(str(root), BootLayout(layout, "bios", "", ["/generate"], config), self.generate)
        self.history = History(str(root / "state"), str(root))
        self.guard = Guard(str(root / "state-change"), str(root))
        (root / "etc/default/grub.d").mkdir(parents=True)
        (root / "boot/grub").mkdir(parents=True)
        for path, text in files.items():
            (root / path.lstrip("/")).write_text(text)
            os.utime(str(root / path.lstrip("/")), (1500000000, 1500000000))
        self.generate([])

    def generate(self, argv, handle_exceptions=True):
        line = " ".join(self.config.read().line.tokens)
        output = argv[-1] if "-o" in argv else "/boot/grub/grub.cfg"
        (self.root / output.lstrip("/")).write_text(f"menuentry 'one' {{\n\tlinux /vmlinuz ro {line}\n}}\n")
        return 0, "", ""

    def tree(self):
        paths = [path for path in sorted(self.root.rglob("*")) if not {"state", "state-change"} & set(path.parts)]
        return {
            path: (
                path.stat().st_mode,
                path.is_file() and path.read_bytes(),
                "boot" in path.parts or path.stat().st_mtime_ns,
            )
            for path in paths
        }


def test_apply_and_put_back_are_the_identity(tmp_path):
    rng = random.Random(1)
    for number in range(20):
        layout = rng.choice(["grub-d", "grub-default"])
        host = Host(tmp_path / str(number), layout, files_of(rng, layout))
        before = host.tree()
        done = 0
        for count in (rng.randrange(1, 100), rng.randrange(1, 100)):
            try:
                planned = plan(layout, host.config.read(), "1G", count, [])
            except HugepagesError:
                continue
            apply(host.config, host.history, host.guard, planned.files, planned.arguments, True, lambda entries: [])
            assert host.config.read().entries[0].line.problems("1G", count) == []
            done += 1
        if done:
            changes = {path: host.history.original(path).content for path in host.history.paths()}
            texts = {path: None if content is None else decode(content) for path, content in changes.items()}
            restore(host.config, host.history, host.guard, texts, True)
        assert host.tree() == before

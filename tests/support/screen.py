# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A terminal: what a command that runs in one leaves on the screen."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

TOKEN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b.|.", re.DOTALL)


class Screen:
    """Lines as a terminal of some columns shows them. It has no bottom: nothing scrolls away."""

    def __init__(self, columns):
        self.columns, self.lines = columns, [""]
        self.row, self.column = 0, 0

    def feed(self, text):
        for token in TOKEN.finditer(text):
            if token.group(2):
                self.control(token.group(2), int(re.sub(r"\D.*", "", token.group(1)) or 1))
            elif token.group() == "\n":
                self.down()
            elif token.group() == "\r":
                self.column = 0
            elif token.group() >= " ":
                self.put(token.group())

    def control(self, letter, number):
        if letter == "A":
            self.row = max(0, self.row - number)
        elif letter == "K":
            self.lines[self.row] = self.lines[self.row][: self.column]

    def put(self, letter):
        if self.column == self.columns:
            self.column = 0
            self.down()
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[: self.column] + letter + line[self.column + 1 :]
        self.column += 1

    def down(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")


def run_in_terminal(command, columns, **options):
    """Run a command in a terminal; return its exit status and its screen."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    screen, printed = Screen(columns), b""
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, **options
    ) as running:
        os.close(theirs)
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux says so that nobody has the other end open any more.
                break
            if not piece:
                break
            printed += piece
    os.close(ours)
    screen.feed(printed.decode())
    return running.returncode, screen

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images are built from wherever the machine's own packages come from."""

import mirrors
import pytest
from mirrors import Source
from shell import LabError

DEB822 = """\
# A comment
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb-src
URIs: http://mirror.example/sources
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
"""

EMBEDDED = """\
Types: deb
URIs: https://mirror.example/debian
Suites: bookworm
Components: main
Architectures: amd64 arm64
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abcd
 -----END PGP PUBLIC KEY BLOCK-----
"""


def test_a_deb822_stanza_gives_each_of_its_suites_and_only_binary_enabled_ones():
    options = {"signed-by": "/usr/share/keyrings/debian.gpg"}
    assert mirrors.deb822_sources(DEB822) == [
        Source("http://mirror.example/debian", "bookworm", ["main", "contrib"], options),
        Source("http://mirror.example/debian", "bookworm-updates", ["main", "contrib"], options),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("deb http://a/debian bookworm main", [Source("http://a/debian", "bookworm", ["main"], {})]),
        (
            "deb [arch=amd64 signed-by=/k.gpg] https://a/ubuntu jammy main universe # why",
            [Source("https://a/ubuntu", "jammy", ["main", "universe"], {"arch": "amd64", "signed-by": "/k.gpg"})],
        ),
        ("deb-src http://a/debian bookworm main", []),
        ("# deb http://a/debian bookworm main", []),
        ("", []),
    ],
)
def test_a_line_of_sources_list(line, expected):
    assert mirrors.one_line_sources(line) == expected


def test_only_the_release_itself_is_used():
    def source(suite, *components):
        return Source("http://a", suite, list(components), {})

    release = [source("bookworm", "main"), source("bookworm-security", "main"), source("bookworm-updates", "main")]
    others = [source("nodistro", "main"), source("bookworm-backports", "main"), source("bookworm", "stable")]
    assert mirrors.of_release(release + others, "bookworm") == release


def test_an_embedded_key_becomes_a_file():
    (source,) = mirrors.deb822_sources(EMBEDDED)
    written = []

    def key_file(text):
        written.append(text)
        return "/key.asc"

    line = mirrors.line(source, key_file)
    assert line == "deb [signed-by=/key.asc arch=amd64,arm64] https://mirror.example/debian bookworm main"
    assert written == ["-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nabcd\n-----END PGP PUBLIC KEY BLOCK-----\n"]


def test_settings_that_reach_and_trust_a_mirror_are_kept_and_no_others():
    dump = """\
APT::Architecture "amd64";
Acquire "";
Acquire::http "";
Acquire::http::Proxy "http://proxy.example:3128";
Acquire::https::CAInfo "/etc/ssl/own.pem";
Acquire::Check-Valid-Until "false";
Acquire::Languages:: "en";
Acquire::IndexTargets::deb::Packages::MetaKey "x";
DPkg::Pre-Install-Pkgs:: "/usr/sbin/dpkg-preconfigure";
"""
    assert mirrors.apt_options(dump) == [
        'Acquire::http::Proxy "http://proxy.example:3128"',
        'Acquire::https::CAInfo "/etc/ssl/own.pem"',
        'Acquire::Check-Valid-Until "false"',
    ]


def test_the_release_is_named_by_the_machine():
    assert mirrors.codename('ID=ubuntu\nVERSION_CODENAME=jammy\nUBUNTU_CODENAME="jammy"\n') == "jammy"
    with pytest.raises(LabError, match="VERSION_CODENAME"):
        mirrors.codename("ID=fedora\n")


def test_sources_are_read_from_both_kinds_of_files(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text("deb http://a/debian bookworm main\n")
    (tmp_path / "sources.list.d/debian.sources").write_text(DEB822)
    (tmp_path / "sources.list.d/old.list.save").write_text("deb http://old/debian bookworm main\n")
    assert [source.uri for source in mirrors.read_sources(tmp_path)] == ["http://a/debian"] + [
        "http://mirror.example/debian"
    ] * 2

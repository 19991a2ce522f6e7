# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Settings of sysctl and tuned that change their meaning as the default page size becomes 1 GiB."""

import pytest
from boot_host import tree

from ansible_collections.taco.train.plugins.module_utils._boot.pools import observe_hugepages
from ansible_collections.taco.train.plugins.module_utils._boot.sysctl import observe_sysctl


def write(root, texts):
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


SET = "vm.nr_hugepages = 2048\n"
TUNED = "[main]\ninclude=throughput-performance\n[vm]\ntransparent_hugepages=never\n"


@pytest.mark.parametrize(
    "texts, expected",
    [
        ({"etc/sysctl.conf": "# vm.nr_hugepages=1\n;\nvm/nr_hugepages=2048\n"}, ["/etc/sysctl.conf:3=2048"]),
        ({"etc/sysctl.d/90.conf": "-" + SET}, ["/etc/sysctl.d/90.conf:1=2048"]),
        ({"run/sysctl.d/90.conf": SET}, ["/run/sysctl.d/90.conf:1=2048"]),
        ({"usr/local/lib/sysctl.d/90.conf": SET}, ["/usr/local/lib/sysctl.d/90.conf:1=2048"]),
        ({"usr/lib/sysctl.d/90.conf": SET, "etc/sysctl.d/90.conf": ""}, []),
        ({"usr/lib/sysctl.d/90.conf": SET, "etc/sysctl.d/91.conf": "vm.nr_hugepages=0"}, ["/etc/sysctl.d/91.conf:1=0"]),
        ({"usr/lib/sysctl.d/92.conf": SET, "etc/sysctl.d/91.conf": "vm.nr_hugepages=0"}, ["/usr/lib/sysctl.d/92.conf:1=2048"]),
        ({"etc/sysctl.d/90.conf": "vm.nr_hugepages=0", "etc/sysctl.conf": SET}, ["/etc/sysctl.conf:1=2048"]),
        ({"etc/sysctl.d/90.conf.bak": SET, "etc/sysctl.d/a.conf": "vm.nr_overcommit_hugepages=2048\n"}, []),
        ({"etc/sysctl.d/90.conf": "vm.nr_hugepages_mempolicy=7"}, ["/etc/sysctl.d/90.conf:1=7"]),
        (
            {
                "etc/tuned/active_profile": "database\n",
                "etc/tuned/database/tuned.conf": TUNED,
                "usr/lib/tuned/throughput-performance/tuned.conf": "[sysctl]\n" + SET,
            },
            ["/usr/lib/tuned/throughput-performance/tuned.conf:2=2048"],
        ),
        (
            {
                "etc/tuned/active_profile": "database other\n",
                "etc/tuned/database/tuned.conf": "[sysctl]\n" + SET,
                "usr/lib/tuned/database/tuned.conf": "[sysctl]\nvm.nr_hugepages=1\n",
                "usr/lib/tuned/idle/tuned.conf": "[sysctl]\nvm.nr_hugepages=2\n",
            },
            ["/etc/tuned/database/tuned.conf:2=2048"],
        ),
        ({"etc/tuned/active_profile": "database", "etc/tuned/database/tuned.conf": "[script]\n" + SET}, []),
        (
            {"etc/tuned/active_profile": "one", "etc/tuned/one/tuned.conf": "[main]\ninclude=one\n[sysctl]\n" + SET},
            ["/etc/tuned/one/tuned.conf:4=2048"],
        ),
    ],
)  # fmt: skip
def test_the_setting_in_force_is_found_with_file_and_line(tmp_path, texts, expected):
    write(tmp_path, texts)
    assert [f"{one['file']}:{one['line']}={one['value']}" for one in observe_sysctl(str(tmp_path))] == expected
    assert observe_hugepages(str(tmp_path))["sysctl"] == observe_sysctl(str(tmp_path))


@pytest.mark.parametrize("value", ["2048", "0", "5", "many", "4²", ""])
def test_a_setting_of_another_number_is_refused_before_anything_is_written(pages, host, value):
    write(host, {"etc/sysctl.d/90-db.conf": f"\nvm.nr_hugepages={value}\n"})
    before = tree(host)
    for check in (True, False):
        refused = pages(check=check, count=4)
        assert refused["failed"] and f"/etc/sysctl.d/90-db.conf:2 sets vm.nr_hugepages={value}" in refused["msg"]
        assert "remove the line, or set it to 4" in refused["msg"]
        assert tree(host) == before


def test_a_setting_of_the_same_number_is_harmless_and_removal_is_never_refused(pages, host):
    write(host, {"etc/sysctl.d/90-db.conf": "vm.nr_hugepages=4\n"})
    assert pages(count=4)["changed"]
    write(host, {"etc/sysctl.d/90-db.conf": SET})
    assert pages(state="restored")["changed"]

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one observation says of a host with its pages, so that the module need not run there again."""

import pytest
from boot_host import DROP_IN, LINE, tree

from ansible_collections.taco.train.plugins.module_utils._boot.converged import converged
from ansible_collections.taco.train.plugins.module_utils._boot.options import OPTIONS
from ansible_collections.taco.train.plugins.module_utils._observation.node import boot
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.plugin_utils.convergence.hugepages import KNOWN


def known(host, memory=64 * 1024**3, **options):
    """Return what the controller knows of a host from one observation, when it is asked for these pages."""
    node = {
        "observed_at": "2026-01-05T10:00:00Z",
        "boot": {"hugepages": converged(str(host), OPTIONS["argument_spec"]["state_dir"]["default"])},
        "cpu": {"page_1g": True, "page_2m": True},
        "memory": {"total_bytes": memory},
    }
    return KNOWN.answer(options, node)


@pytest.mark.parametrize("layout", ["host", "el7"])
def test_what_is_known_of_a_converged_host_is_what_the_module_answers(request, pages, layout):
    host = request.getfixturevalue(layout)
    assert known(host, count=4) is None
    pools = host / "sys/kernel/mm/hugepages"
    (pools / "hugepages-2048kB").mkdir()
    for options in ({"count": 600, "page_size": "2M"}, {"state": "restored"}, {"count": 4}, {"gpus": 2}):
        pages(**options)
        if options.get("state"):
            continue
        assert known(host, **options) is None and pages(**options)["reboot_required"]
        line = " ".join(pages(**options)["kernel_args"]["after"])
        (host / "proc/cmdline").write_text(line)
        for size in ("2048", "1048576"):
            (pools / f"hugepages-{size}kB/nr_hugepages").write_text(line.rsplit("hugepages=", 1)[1].split()[0])
        before = tree(host)
        found, answer = known(host, **options), pages(**options)
        assert tree(host) == before and not answer["changed"]
        assert found == {name: value for name, value in answer.items() if name != "invocation"}


def booted(pages, host):
    """Make the host one that runs with four pages."""
    pages(count=4)
    (host / "proc/cmdline").write_text("ro " + LINE.format(4))
    (host / "sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages").write_text("4\n")


def test_only_of_the_running_system_is_it_observed(pages, host):
    booted(pages, host)
    root = Root(str(host))
    assert boot(root, "/var/lib/taco-train")["hugepages"] is None
    root.is_running_system = True
    assert boot(root, "/var/lib/taco-train")["hugepages"]["count"] == 4
    assert boot(root, "/opt/state")["hugepages"] is None


def spoil(path, text=None):
    return lambda host: (host / path).unlink() if text is None else (host / path).write_text(text)


@pytest.mark.parametrize(
    "change",
    [
        spoil(DROP_IN),
        spoil(DROP_IN, 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX hugepagesz=1G hugepages=5"\n'),
        spoil("etc/default/grub.d/zzz.cfg", 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX hugepagesz=1G hugepages=5"\n'),
        spoil("etc/default/grub", 'GRUB_CMDLINE_LINUX="hugepagesz=2M hugepages=512"\n'),
        spoil("etc/default/grub", 'GRUB_CMDLINE_LINUX="unfinished\n'),
        spoil(
            "boot/grub/grub.cfg",
            "menuentry 'Debian' {\n\tlinux\t/boot/vmlinuz-6.1 root=/dev/vda1 ro net.ifnames=0\n}\n",
        ),
        spoil("boot/grub/grub.cfg"),
        spoil("usr/sbin/update-grub"),
        spoil("var/lib/taco-train/hugepages/manifest.json"),
        spoil("var/lib/taco-train/hugepages/manifest.json", "{"),
        spoil("proc/meminfo", "MemTotal: 1048576 kB\n"),
    ],
)
def test_a_host_where_anything_is_otherwise_has_to_be_asked(pages, host, change):
    booted(pages, host)
    assert known(host, count=4)
    change(host)
    before = tree(host)
    assert known(host, count=4) is None
    assert tree(host) == before


@pytest.mark.parametrize(
    "options",
    [
        {"count": 5},
        {"count": 4, "page_size": "2M"},
        {"gpus": 4},
        {"gpus": 0},
        {"count": 4, "state": "absent"},
        {"count": 4, "state": "restored"},
        {"count": 4, "trial": True},
        {"count": 4, "runtime": True},
        {"count": 4, "keep_other_sizes": False},
        {"count": 4, "regenerate": False},
        {"count": 4, "max_memory_fraction": 0.05},
        {"count": 4, "max_memory_fraction": 1.5},
        {"count": 4, "memory": 4 * 1024**3},
        {"count": 4, "memory": None},
        {"count": 4, "sysroot": "/mnt"},
        {"count": 4, "state_dir": "/opt/state"},
    ],
)
def test_whatever_else_is_asked_for_goes_to_the_host(pages, host, options):
    booted(pages, host)
    assert known(host, **options) is None

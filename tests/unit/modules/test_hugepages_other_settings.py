# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Settings of others that change the pages after a boot are found in what files say, and refused before anything is written."""

import pytest
from boot_host import tree

from ansible_collections.taco.train.plugins.module_utils._boot.contradictions import contradicting, in_words, remedy
from ansible_collections.taco.train.plugins.module_utils._boot.other_settings import other_settings
from ansible_collections.taco.train.plugins.module_utils._boot.pools import observe_hugepages


class Link(str):
    """The target of a link."""


NULL = Link("/dev/null")


def write(root, texts):
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(text) if isinstance(text, Link) else path.write_text(text)


SET = "vm.nr_hugepages = 2048\n"
TUNED_STARTS = {
    "usr/lib/systemd/system/tuned.service": "[Service]\nExecStart=/usr/sbin/tuned\n",
    "etc/systemd/system/multi-user.target.wants/tuned.service": "",
}
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
        ({"etc/sysctl.d/90.conf": "vm.nr_hugepages=0", "etc/sysctl.conf": SET}, ["/etc/sysctl.d/90.conf:1=0", "/etc/sysctl.conf:1=2048"]),
        ({"etc/sysctl.d/90.conf.bak": SET, "etc/sysctl.d/a.conf": "vm.nr_overcommit_hugepages=2048\n"}, []),
        ({"etc/sysctl.d/90.conf": "vm.nr_hugepages_mempolicy=7"}, ["/etc/sysctl.d/90.conf:1=7"]),
        (
            {
                **TUNED_STARTS,
                "etc/tuned/active_profile": "database\n",
                "etc/tuned/database/tuned.conf": TUNED,
                "usr/lib/tuned/throughput-performance/tuned.conf": "[sysctl]\n" + SET,
            },
            ["/usr/lib/tuned/throughput-performance/tuned.conf:2=2048"],
        ),
        (
            {
                **TUNED_STARTS,
                "etc/tuned/active_profile": "database other\n",
                "etc/tuned/database/tuned.conf": "[sysctl]\n" + SET,
                "usr/lib/tuned/database/tuned.conf": "[sysctl]\nvm.nr_hugepages=1\n",
                "usr/lib/tuned/idle/tuned.conf": "[sysctl]\nvm.nr_hugepages=2\n",
            },
            ["/etc/tuned/database/tuned.conf:2=2048"],
        ),
        ({**TUNED_STARTS, "etc/tuned/active_profile": "database", "etc/tuned/database/tuned.conf": "[script]\n" + SET}, []),
        (
            {**TUNED_STARTS, "etc/tuned/active_profile": "one", "etc/tuned/one/tuned.conf": "[main]\ninclude=one\n[sysctl]\n" + SET},
            ["/etc/tuned/one/tuned.conf:4=2048"],
        ),
    ],
)  # fmt: skip
def test_the_setting_in_force_is_found_with_file_and_line(tmp_path, texts, expected):
    write(tmp_path, texts)
    assert [f"{one['file']}:{one['line']}={one['value']}" for one in other_settings(str(tmp_path))] == expected
    assert observe_hugepages(str(tmp_path))["sysctl"] == other_settings(str(tmp_path))


POOL = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
SERVICE = "[Service]\nType=oneshot\nExecStart={}\n[Install]\nWantedBy=sysinit.target\n"
ADDED = "etc/systemd/system/pages.service.d/a.conf"
LINKED = {"etc/sysctl.d/99-sysctl.conf": Link("../sysctl.conf")}
WANTED = "etc/systemd/system/sysinit.target.wants/pages.service"
RESERVE = (
    "#!/bin/sh\n# > nr_hugepages\np=/sys/devices/system/node\n"
    "set_pages() {\n  echo $1 > $p/$2/hugepages/hugepages-1048576kB/nr_hugepages\n}\n"
)
PARAMS = "isolcpus=2-9 hugepagesz=1G hugepages=16"
ENTRY = "title EL\nlinux /vmlinuz-5.14\noptions root=/dev/vda1 ro $tuned_params\n"


def unit(command, name="pages.service", wanted=WANTED, **more):
    return dict({"etc/systemd/system/" + name: SERVICE.format(command), wanted: ""}, **more)


def tuned(text, **more):
    profile = {"etc/tuned/active_profile": "mine\n", "etc/tuned/mine/tuned.conf": "[main]\nsummary=x\n" + text}
    return {**TUNED_STARTS, **profile, **more}


# The files of a host, and the expected message for 4 pages of 1G; None where no setting contradicts them.
SITUATIONS = {
    "a unit with the command": (
        unit("/bin/sh -c 'echo 9 > " + POOL + "'"),
        "/etc/systemd/system/pages.service:3 (pages.service) sets " + POOL + "=9",
    ),
    "a unit with sysctl": (unit("/sbin/sysctl -w vm.nr_hugepages=9"), "pages.service:3 (pages.service) sets vm.nr_hugepages=9"),
    "a unit with a script": (
        unit("/usr/lib/systemd/reserve", **{"usr/lib/systemd/reserve": RESERVE}),
        "/usr/lib/systemd/reserve:5 (pages.service) sets $p/$2/hugepages/hugepages-1048576kB/nr_hugepages=$1",
    ),
    "a script with the path in a variable": (
        unit("/opt/x", **{"opt/x": "#!/bin/sh\nfor f in " + POOL + "; do\necho 9 | sudo tee \"${f}\" >/dev/null\ndone\n"}),
        "/opt/x:3 (pages.service) sets " + POOL + "=9",
    ),
    "a file for sysctl": (
        unit("/sbin/sysctl -p /opt/x.conf", **{"opt/x.conf": "vm.nr_hugepages = 9\n"}),
        "/opt/x.conf:1 (pages.service) sets vm.nr_hugepages=9",
    ),
    "a script of Python": (
        unit("/opt/x.py", **{"opt/x.py": "open('/proc/sys/vm/nr_hugepages', 'w').write('9')\n"}),
        "/opt/x.py:1 (pages.service) sets vm.nr_hugepages",
    ),
    "a tool": (unit("/usr/bin/hugeadm --pool-pages-min 1GB:9"), "sets hugeadm --pool-pages-min 1GB=9"),
    "an instance of a template": (
        unit("/sbin/sysctl vm.nr_hugepages=%i", "pages@.service", "etc/systemd/system/a.target.wants/pages@9.service"),
        "pages@.service:3 (pages@9.service) sets vm.nr_hugepages=%i",
    ),
    "a timer": (
        unit("/sbin/sysctl vm.nr_hugepages=9", wanted="etc/systemd/system/timers.target.wants/pages.timer"),
        "`systemctl disable --now pages.service`",
    ),
    "a unit that another one wants": (
        {
            "etc/systemd/system/pages.service": SERVICE.format("/sbin/sysctl vm.nr_hugepages=9"),
            "usr/lib/systemd/system/a.target.wants/b.service": "",
            "usr/lib/systemd/system/b.service": "[Unit]\nWants=pages.service\n",
        },
        "sets vm.nr_hugepages=9",
    ),
    "a drop-in of a unit": (
        {
            "usr/lib/systemd/system/vpp.service": SERVICE.format("/usr/bin/vpp"),
            "etc/systemd/system/vpp.service.d/pages.conf": "[Service]\nExecStartPre=/sbin/sysctl vm.nr_hugepages=9\n",
            "etc/systemd/system/multi-user.target.wants/vpp.service": "",
        },
        "/etc/systemd/system/vpp.service.d/pages.conf:2 (vpp.service) sets vm.nr_hugepages=9",
    ),
    "a unit that is active but not enabled": (
        {
            "run/systemd/system/pages.service": SERVICE.format("/sbin/sysctl vm.nr_hugepages=9"),
            "run/systemd/units/invocation:pages.service": "",
        },
        "/run/systemd/system/pages.service:3 (pages.service) sets vm.nr_hugepages=9",
    ),
    "a unit that is neither": ({"etc/systemd/system/pages.service": SERVICE.format("sysctl vm.nr_hugepages=9")}, None),
    "a unit that reads": (unit("/opt/x", **{"opt/x": "n=$(cat " + POOL + ")\n[ $n -gt 3 ] > /run/ok || echo $n\n"}), None),
    "tmpfiles.d": ({"etc/tmpfiles.d/a.conf": "w! " + POOL + " - - - - 9\n"}, "/etc/tmpfiles.d/a.conf:1 sets " + POOL + "=9"),
    "the same pages by tmpfiles.d": ({"etc/tmpfiles.d/a.conf": "w " + POOL + " - - - - 4\n"}, None),
    "pages of another size": ({"etc/tmpfiles.d/a.conf": "w " + POOL.replace("1048576", "2048") + " - - - - 9\n"}, None),
    "a mask of tmpfiles.d": (
        {"usr/lib/tmpfiles.d/a.conf": "w " + POOL + " - - - - 9\n", "etc/tmpfiles.d/a.conf": ""},
        None,
    ),
    "rc.local": ({"etc/rc.d/rc.local": "#!/bin/sh\necho 9 > /proc/sys/vm/nr_hugepages\n"}, "rc.local:2 sets vm.nr_hugepages=9"),
    "cron": ({"etc/cron.d/a": "@reboot root sysctl -w vm.nr_hugepages=9\n"}, "/etc/cron.d/a:1 sets vm.nr_hugepages=9"),
    "DPDK's own file": ({"etc/dpdk/dpdk.conf": "NR_1G_PAGES=9\n"}, "/etc/dpdk/dpdk.conf:1 sets NR_1G_PAGES=9"),
    "tuned [sysfs]": (tuned("[sysfs]\n" + POOL + "=9\n"), "/etc/tuned/mine/tuned.conf:4 (tuned profile mine) sets " + POOL + "=9"),
    "tuned type=sysctl": (tuned("[any]\ntype=sysctl\nvm.nr_hugepages=9\n"), "tuned.conf:5 (tuned profile mine) sets vm.nr_hugepages=9"),
    "tuned with a variable": (
        tuned("include=-base\n", **{"usr/lib/tuned/profiles/base/tuned.conf": "[variables]\nn=9\n[sysctl]\nvm.nr_hugepages=${n}\n"}),
        "/usr/lib/tuned/profiles/base/tuned.conf:4 (tuned profile base) sets vm.nr_hugepages=9",
    ),
    "tuned [bootloader]": (
        tuned("[bootloader]\ncmdline_mine=+" + PARAMS + "\n"),
        "tuned.conf:4 (tuned profile mine) sets kernel arguments: hugepagesz=1G hugepages=16",
    ),
    "tuned [script]": (
        tuned("[script]\nscript=${i:PROFILE_DIR}/x.sh\n", **{"etc/tuned/mine/x.sh": "echo 9 > " + POOL + "\n"}),
        "/etc/tuned/mine/x.sh:1 (tuned profile mine) sets " + POOL + "=9",
    ),
    "tuned that is not enabled": (
        {name: text for name, text in tuned("[sysctl]\nvm.nr_hugepages=9\n").items() if ".wants/" not in name},
        None,
    ),
    "tuned that was removed": (
        {name: text for name, text in tuned("[sysctl]\nvm.nr_hugepages=9\n").items() if "tuned.service" not in name},
        None,
    ),
    "tuned that is masked": (tuned("[sysctl]\nvm.nr_hugepages=9\n", **{"etc/systemd/system/tuned.service": NULL}), None),
    "a section of tuned that is off": (tuned("[sysctl]\nenabled=false\nvm.nr_hugepages=9\n"), None),
    "sysctl.conf by a link, and a later file": (
        {"etc/sysctl.conf": "vm.nr_hugepages=4\n", **LINKED, "etc/sysctl.d/99-z.conf": "vm.nr_hugepages=9\n"},
        "/etc/sysctl.d/99-z.conf:1 sets vm.nr_hugepages=9",
    ),
    "sysctl.conf by a link, and a later file with these pages": (
        {"etc/sysctl.conf": SET, **LINKED, "etc/sysctl.d/99-z.conf": "vm.nr_hugepages=4\n"},
        None,
    ),
    "a file of sysctl.d behind a link to nothing": ({"usr/lib/sysctl.d/90.conf": SET, "etc/sysctl.d/90.conf": NULL}, None),
    "a comment behind a command": (unit("/opt/x", **{"opt/x": "#!/bin/sh\ntrue # echo 9 > " + POOL + "\n"}), None),
    "a command with a comment": (
        unit("/opt/x", **{"opt/x": "#!/bin/sh\necho 9 > " + POOL + " # for x\n"}),
        "/opt/x:2 (pages.service) sets " + POOL + "=9",
    ),
    "a unit that frees its pages when it stops": (
        unit("/bin/sh -c 'echo 4 > " + POOL + "'\nExecStop=/bin/sh -c 'echo 0 > " + POOL + "'"),
        None,
    ),
    "a unit that is started at the shutdown": (
        unit("/sbin/sysctl vm.nr_hugepages=0", wanted="etc/systemd/system/shutdown.target.wants/pages.service"),
        None,
    ),
    "a unit that only speaks of it": (unit("/bin/true\nDescription=calls sysctl vm.nr_hugepages=9"), None),
    "a command on two lines": (
        unit("/sbin/sysctl -w \\\n  vm.nr_hugepages=9"),
        "/etc/systemd/system/pages.service:4 (pages.service) sets vm.nr_hugepages=9",
    ),
    "a drop-in of a masked unit": (
        {"etc/systemd/system/pages.service": NULL, WANTED: "", ADDED: SERVICE.format("sysctl vm.nr_hugepages=9")},
        None,
    ),
    "a masked drop-in": (
        unit("/bin/true", **{"usr/lib" + ADDED[3:]: SERVICE.format("sysctl vm.nr_hugepages=9"), ADDED: NULL}),
        None,
    ),
    "a copy of a drop-in": (
        unit("/bin/true", **{ADDED + ".bak": SERVICE.format("sysctl vm.nr_hugepages=9")}),
        None,
    ),
    "a drop-in that takes the command back": (
        unit("/sbin/sysctl vm.nr_hugepages=9", **{ADDED: "[Service]\nExecStart=\nExecStart=/bin/true\n"}),
        None,
    ),
    "a tool with these pages": (unit("/usr/bin/hugeadm --pool-pages-min 1GB:4"), None),
    "a tool with pages of another size": (unit("/usr/bin/hugeadm --pool-pages-min 2MB:512"), None),
    "a tool with pages of two sizes": (
        unit("/usr/bin/hugeadm --pool-pages-min 1GB:9 --pool-pages-min 2MB:512"),
        "sets hugeadm --pool-pages-min 1GB=9",
    ),
    "a tool with the upper limit only": (unit("/usr/bin/hugeadm --pool-pages-max 1GB:9"), None),
    "DPDK's tool": (unit("/usr/bin/dpdk-hugepages.py -p 1G --setup 9G"), "sets dpdk-hugepages.py -p 1G --setup=9G"),
    "DPDK's tool with another size": (unit("/usr/bin/dpdk-hugepages.py -p 2M --setup 1G"), None),
    "a rule of udev": (
        {"etc/udev/rules.d/9.rules": 'SUBSYSTEM=="node", ATTR{' + POOL[31:] + '}="9"\n'},
        "/etc/udev/rules.d/9.rules:1 sets",
    ),
    "a daily script": ({"etc/cron.daily/p": "#!/bin/sh\nsysctl -w vm.nr_hugepages=9\n"}, "/etc/cron.daily/p:2 sets vm.nr_hugepages=9"),
    "tmpfiles.d with quotes": ({"etc/tmpfiles.d/a.conf": 'w+ "' + POOL + '" - - - - 9\n'}, "/etc/tmpfiles.d/a.conf:1 sets " + POOL + "=9"),
    "a sysctl in grubenv": (
        {"boot/grub2/grubenv": "# GRUB\nkernelopts=root=/dev/vda1 sysctl.vm.nr_hugepages=9\n"},
        "/boot/grub2/grubenv:2 sets vm.nr_hugepages=9",
    ),
    "fstab that mounts nothing at boot": (
        {"etc/fstab": "nodev /dev/hugepages hugetlbfs noauto,pagesize=2M 0 0\n"},
        None,
    ),
    "what tuned gives Debian's kernel line": (
        {"etc/tuned/bootcmdline": 'TUNED_BOOT_CMDLINE="' + PARAMS + '"\n'},
        "/etc/tuned/bootcmdline:1 (tuned) sets kernel arguments: hugepagesz=1G hugepages=16",
    ),
    "a variable of grubenv": (
        {"boot/grub2/grubenv": "# GRUB\ntuned_params=" + PARAMS + "\n", "boot/loader/entries/a.conf": ENTRY},
        "/boot/grub2/grubenv:2 (GRUB's variable tuned_params) sets kernel arguments: hugepagesz=1G hugepages=16",
    ),
    "a variable of grub.cfg": (
        {"boot/grub2/grub.cfg": 'set tuned_params="' + PARAMS + '"\nblscfg\n', "boot/loader/entries/a.conf": ENTRY},
        "/boot/grub2/grub.cfg:1 (GRUB's variable tuned_params) sets",
    ),
    "a variable that no entry uses": ({"boot/grub2/grubenv": "tuned_params=" + PARAMS + "\n"}, None),
    "a variable with pages of another size": (
        {"boot/grub2/grubenv": "tuned_params=hugepagesz=2M hugepages=9\n", "boot/loader/entries/a.conf": ENTRY},
        None,
    ),
    "a variable with pages of the default size": (
        {"boot/grub2/grubenv": "tuned_params=hugepages=9\n", "boot/loader/entries/a.conf": ENTRY},
        "sets kernel arguments: hugepages=9",
    ),
    "a variable without pages": (
        {"boot/grub2/grubenv": "tuned_params=isolcpus=2\n", "boot/loader/entries/a.conf": ENTRY},
        None,
    ),
    "a sysctl in the kernel line": (
        {"etc/default/grub": 'GRUB_CMDLINE_LINUX="quiet sysctl.vm.nr_hugepages=9"\n'},
        "/etc/default/grub:1 sets vm.nr_hugepages=9",
    ),
    "fstab with another page size": (
        {"etc/fstab": "nodev /dev/hugepages hugetlbfs mode=0777,pagesize=2M 0 0\n"},
        "/etc/fstab:1 sets the page size of /dev/hugepages: 2M",
    ),
    "fstab with this page size": ({"etc/fstab": "nodev /dev/hugepages hugetlbfs pagesize=1024M 0 0\n"}, None),
    "a mount unit with another page size": (
        {"etc/systemd/system/dev-hugepages.mount": "[Mount]\nOptions=mode=0777,pagesize=2M\n"},
        "/etc/systemd/system/dev-hugepages.mount:2 sets the page size of /dev/hugepages: 2M",
    ),
}  # fmt: skip


@pytest.mark.parametrize("situation", sorted(SITUATIONS))
def test_only_what_changes_the_pages_after_a_boot_is_named_with_file_and_line(tmp_path, situation):
    texts, expected = SITUATIONS[situation]
    write(tmp_path, texts)
    found = contradicting(other_settings(str(tmp_path)), "1G", 4)
    text = in_words(found) + ": " + remedy(found, "1G", 4)
    assert expected in text if expected else not found, text


def test_a_masked_unit_sets_nothing_and_many_settings_make_a_short_message(tmp_path):
    write(tmp_path, {"usr/lib/systemd/system/pages.service": SERVICE.format("sysctl vm.nr_hugepages=9"), WANTED: ""})
    (tmp_path / "etc/systemd/system/pages.service").symlink_to("/dev/null")
    assert other_settings(str(tmp_path)) == []
    write(tmp_path, {"etc/cron.d/a": "@reboot root sysctl -w vm.nr_hugepages=9 # {}\n".format("x" * 500) * 50})
    text = in_words(contradicting(other_settings(str(tmp_path)), "1G", 4))
    assert text.endswith("and 45 more") and len(text) < 1500


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

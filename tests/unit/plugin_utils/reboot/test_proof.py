# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest

from ansible_collections.taco.train.plugins.module_utils._boot.pools import parse_mounts
from ansible_collections.taco.train.plugins.plugin_utils.reboot.proof import GIB, boot_problems


def node(cmdline="quiet default_hugepagesz=1G hugepagesz=1G hugepages=50", total=50, nodes=(25, 25), mount=GIB):
    return {
        "kernel": {"boot_id": "new", "cmdline": cmdline},
        "memory": {"available_bytes": 3 * GIB},
        "hugepages": {
            "pools": [
                {"size_bytes": 2 * 1024**2, "total": 7, "free": 7, "nodes": []},
                {
                    "size_bytes": GIB,
                    "total": total,
                    "free": total,
                    "nodes": [{"node": number, "total": pages, "free": pages} for number, pages in enumerate(nodes)],
                },
            ],
            "mounts": [{"path": "/dev/hugepages", "page_size_bytes": mount}],
        },
    }


def test_a_host_with_all_its_pages_has_no_problem():
    assert boot_problems(node(), "1G", 50, "old") == []


@pytest.mark.parametrize(
    "cmdline",
    [
        "default_hugepagesz=1GB hugepagesz=1GB hugepages=50",
        "hugepagesz=2M hugepages=7 hugepagesz=1G hugepages=50",
        "default_hugepagesz=1G hugepages=50",
    ],
)
def test_other_spellings_of_the_same_line_are_right(cmdline):
    assert boot_problems(node(cmdline), "1G", 50) == []


@pytest.mark.parametrize(
    "cmdline, said",
    [
        ("quiet", "says none"),
        ("default_hugepagesz=1G hugepagesz=1G hugepages=30", "says hugepages=30"),
        ("hugepagesz=1G hugepages=50 hugepagesz=1G hugepages=50", "hugepages=50 and hugepages=50"),
        ("hugepages=50 hugepagesz=1G", "says none"),
        ("hugepagesz=2M hugepages=50", "says none"),
    ],
)
def test_a_wrong_kernel_line_is_quoted(cmdline, said):
    (problem,) = boot_problems(node(cmdline), "1G", 50)
    assert said in problem and problem.endswith(cmdline)


def test_a_short_pool_names_the_pages_missing_each_numa_node_and_the_free_memory():
    (problem,) = boot_problems(node(total=43, nodes=(25, 18)), "1G", 50)
    assert problem == (
        "43 of 50 pages of 1G are reserved, 7 missing (NUMA node 0 has 25, NUMA node 1 has 18); 3.0 GiB of memory are free"
    )


def test_a_host_that_did_not_reboot_is_told_from_one_that_did():
    (problem,) = boot_problems(node(), "1G", 50, "new")
    assert "did not reboot" in problem


def test_a_mount_of_another_page_size_and_a_missing_pool_are_problems():
    (problem,) = boot_problems(node(mount=2 * 1024**2), "1G", 50)
    assert problem.startswith("/dev/hugepages has pages of 2M and not of 1G: correct its page size in /etc/fstab")
    without = node()
    del without["hugepages"]["pools"][1]
    assert any("no pool of 1G" in problem for problem in boot_problems(without, "1G", 50))


def test_after_a_rollback_no_pages_and_no_word_of_them_is_right():
    assert boot_problems(node("quiet", total=0, nodes=(0, 0)), "1G", 0, "old") == []
    assert boot_problems(node("quiet hugepagesz=1G hugepages=0", total=0, nodes=(0, 0)), "1G", 0) == []
    line, pool = boot_problems(node(), "1G", 0)
    assert "still reserves pages of 1G" in line and "50 too many" in pool


def test_what_others_left_twice_has_to_be_said_twice():
    twice = "quiet hugepagesz=1G hugepages=50 hugepagesz=1G hugepages=50"
    assert boot_problems(node(twice), "1G", 0, "old", ["50", "50"]) == []
    (problem,) = boot_problems(node(), "1G", 0, "old", ["50", "50"])
    assert "should say hugepages=50 and 50" in problem


MIB = 1024**2
NODES = "default_hugepagesz=1G hugepagesz=1G hugepages={}"


def observed(
    *,
    pages=(25, 25),
    free=(25, 25),
    memory=(128, 128),
    cpus=(True, True),
    mounts=(("/dev/hugepages", GIB),),
    options="rw",
    number="50",
):
    found = node(NODES.format(number), total=sum(pages), nodes=pages)
    found["hugepages"]["nodes"] = [
        {"node": one, "memory_bytes": gib * GIB, "cpus": cpus[one]} for one, gib in enumerate(memory) if gib
    ]
    text = "".join(f"h {path} hugetlbfs {options},pagesize={size // MIB}M 0 0\n" for path, size in mounts)
    found["hugepages"]["mounts"] = parse_mounts(text, None)
    pool = found["hugepages"]["pools"][1]
    pool["free"] = sum(free)
    for place, number in zip(pool["nodes"], free):
        place["free"] = number
    return found


# The facts of the host after its reboot, and the expected problem; None where the reboot is verified.
SITUATIONS = {
    "two equal nodes": ({}, None),
    "a smaller node gave what it has": ({"pages": (12, 38), "free": (12, 38), "memory": (16, 240)}, None),
    "a node without memory": ({"pages": (0, 50), "free": (0, 50), "memory": (0, 256)}, None),
    "all pages on one node": ({"pages": (0, 50), "free": (0, 50)}, "NUMA node 0 has none of the pages of 1G (NUMA node 0 has 0, NUMA"),
    "a node with memory and without CPUs": ({"pages": (50, 0), "free": (50, 0), "cpus": (True, False)}, None),
    "all on the node without CPUs": ({"pages": (0, 50), "free": (0, 50), "cpus": (True, False)}, "NUMA node 0 has none of the pages"),
    "a read-only mount": ({"options": "ro"}, "/dev/hugepages is mounted read-only, so no program can take pages there: take ro out"),
    "a mount with too small a limit": (
        {"options": f"rw,size={40 * GIB}"}, f"/dev/hugepages is mounted with size={40 * GIB}, room for 40 of the 50 pages of 1G: take",
    ),
    "a mount with room for all pages": ({"options": f"rw,size={50 * GIB},min_size={GIB}"}, None),
    "all on one node as asked": ({"pages": (0, 50), "free": (0, 50), "number": "1:50"}, None),
    "a number for each node": ({"number": "0:25,1:25"}, None),
    "another number on the nodes": (
        {"pages": (20, 30), "free": (20, 30), "number": "0:25,1:25"},
        "NUMA node 0 has 20 pages of 1G and its kernel line asks for 25; NUMA node 1 has 30",
    ),
    "a kernel that knows no numbers for each node": (
        {"pages": (0, 0), "free": (0, 0), "number": "0:25,1:25"},
        "0 of 50 pages of 1G are reserved, 50 missing",
    ),
    "none free": ({"free": (0, 0)}, "none of the 50 pages of 1G is free"),
    "none free on a node": ({"free": (25, 0)}, "none of the 25 pages of 1G on NUMA node 1 is free"),
    "some in use": ({"free": (24, 20)}, None),
    "no hugetlbfs": ({"mounts": ()}, "no hugetlbfs is mounted at /dev/hugepages: run `systemctl start dev-hugepages.mount`"),
    "1G elsewhere": (
        {"mounts": (("/dev/hugepages", 2 * MIB), ("/mnt/huge", GIB))},
        "/dev/hugepages has pages of 2M and not of 1G; mounted elsewhere: /mnt/huge (1G): correct",
    ),
    "only elsewhere": ({"mounts": (("/mnt/huge", GIB),)}, "no hugetlbfs is mounted at /dev/hugepages; mounted elsewhere: /mnt/huge (1G)"),
    "2M mounted over 1G": ({"mounts": (("/dev/hugepages", GIB), ("/dev/hugepages", 2 * MIB))}, "/dev/hugepages has pages of 2M"),
}  # fmt: skip


@pytest.mark.parametrize("situation", sorted(SITUATIONS))
def test_pages_where_training_finds_them_are_the_proof(situation):
    facts, expected = SITUATIONS[situation]
    number = facts.get("number", "50")
    problems = boot_problems(observed(**facts), "1G", 50, "old", [number])
    assert any(problem.startswith(expected) for problem in problems) if expected else problems == [], problems


def test_a_number_for_each_node_has_to_be_the_one_of_the_boot_configuration():
    (problem,) = boot_problems(observed(), "1G", 50, "old", ["0:25,1:25"])
    assert problem.startswith("its kernel line should say hugepages=0:25,1:25 for pages of 1G")

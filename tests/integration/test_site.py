# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The whole path on the lab that `make lab-up` started: real SSH, real containers, a real mpirun across two nodes."""

import json
import re
import shlex
from collections import Counter
from types import SimpleNamespace

import faults
import jsonschema
import pytest
import yaml
from integration.paths import COLLECTION, ROOT

from ansible_collections.taco.train.plugins.plugin_utils.text import number

INVENTORY = "inventories/lab"
NODES = ("taco-lab-node-0", "taco-lab-node-1")
# Remote executions on each host before the benchmark when nothing has changed: the observation, and one module each for the
# hugepages, the ENIs, HARP, the training container and the SSH trust.
MOST_EXECUTIONS = 6


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="session")
def playbook(command, results):
    """Return a function that runs a playbook on the lab, with its results in a folder of the tests."""

    def run(name, *arguments, **options):
        extra = ("-e", "taco_results_dir=" + str(results))
        return command("ansible-playbook", "playbooks/" + name, "-i", INVENTORY, *extra, *arguments, **options)

    return run


@pytest.fixture(scope="session")
def on_node(command):
    """Return a function that runs a command on one node, which must succeed, and returns its output."""

    def run(node, *argv):
        done = command(*faults.command(node, shlex.join(argv)))
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


@pytest.fixture(scope="session")
def site(playbook, results):
    """Run the whole site once and return what it printed and recorded."""
    done = playbook("site.yml", timeout=600)
    assert done.returncode == 0, done.stdout
    run = (results / "latest").resolve()
    records = [json.loads(line) for line in (run / "records.jsonl").read_text().splitlines()]
    return SimpleNamespace(stdout=done.stdout, run=run, records=records)


def recap(text):
    """Return {host: {"ok": 1, ...}} of the lines under PLAY RECAP."""
    rows = re.findall(r"^(\S+)\s+: (ok=.*)$", text, re.MULTILINE)
    return {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", row)} for host, row in rows}


def newest_record(results):
    newest = max(results.glob("*/records.jsonl"), key=lambda path: path.stat().st_mtime)
    return newest.parent, json.loads(newest.read_text().splitlines()[-1])


def test_the_record_holds_a_measured_total_over_both_nodes(site):
    assert len(site.records) == 1
    record = site.records[0]
    schema = json.loads((COLLECTION / "docs/schemas/record-1.json").read_text())
    jsonschema.validate(record, schema)
    assert record["outcome"] == "ok"
    assert record["lab"] is True
    assert record["ranks"] == 4
    assert {host["name"]: host["slots"] for host in record["hosts"]} == dict.fromkeys(NODES, 2)
    result = record["result"]
    assert len(result["iterations"]) == 5
    assert result["total"]["mean"] > 0
    # Horovod prints the total as ranks times the mean of a device, each rounded to a tenth.
    assert result["total"]["mean"] == pytest.approx(4 * result["per_device"]["mean"], abs=0.3)
    assert record["network"] == "LabHARP"
    witnesses = record["witnesses"]
    assert set(witnesses["hosts"]) == set(NODES) and None not in witnesses["hosts"].values()
    # Top-k, and the stand-in for HARP uses kernel TCP.
    assert witnesses["path"]["verdict"] == "unknown"


def test_the_bytes_of_a_run_over_tcp_prove_its_path(site, playbook, results):
    done = playbook("benchmark.yml", "-e", "benchmark_arm=tcp", timeout=600)
    assert done.returncode == 0, done.stdout
    _run, record = newest_record(results)
    path = record["witnesses"]["path"]
    assert path["verdict"] == "proved", path
    for host in path["hosts"].values():
        assert 1 <= host["sent"] / host["expected"] < 1.1, path


def test_the_table_the_report_and_the_log_are_there_and_say_that_this_is_a_lab(site):
    total = number(site.records[0]["result"]["value"])
    table = (site.run / "table.md").read_text()
    report = (site.run / "report.html").read_text()
    assert total in table and total in report and total in site.stdout
    assert site.stdout.splitlines()[-1] == f"Report: {site.run}/report.html"
    assert len(site.stdout.splitlines()) < 160 and "skipping: [" not in site.stdout, site.stdout
    assert "lab" in table.lower() and "lab" in report.lower()
    assert not re.search(r"(src|href)=[\"']?https?://", report), "the report must open without a network"
    assert "Total img/sec on 4 CPU(s)" in (site.run / site.records[0]["log"]).read_text()
    assert json.loads((site.run / "verdict.json").read_text())


def inspected(on_node, node, field):
    """Return a field of the training container on a node."""
    return on_node(node, "docker", "inspect", "--format", "{{" + field + "}}", "taco-train").strip()


@pytest.mark.parametrize("node", NODES)
def test_what_stands_on_the_nodes(site, on_node, node):
    grub = on_node(node, "cat", "/boot/grub/grub.cfg")
    assert "default_hugepagesz=1G hugepagesz=1G hugepages=1" in grub
    assert "lab" in on_node(node, "sh", "-c", "cat /usr/local/tfabric/tools/config/ztcp*.conf").lower()
    assert inspected(on_node, node, ".State.Running") == "true"
    other = next(name for name in NODES if name != node)
    assert node in on_node(node, "docker", "exec", "taco-train", "ssh", node, "hostname")
    assert other in on_node(node, "docker", "exec", "taco-train", "ssh", other, "hostname")


OPTIONS = {
    "script": str(ROOT / "labs/docker/training/gradient_exchange.py"),
    "batch_size": 64,
    "num_iters": 2,
    "num_warmup_batches": 1,
    "num_batches_per_iter": 2,
}
SHORT = ("-e", json.dumps({"benchmark_options": OPTIONS}))


def test_a_second_run_changes_only_the_benchmark_and_costs_few_connections(site, playbook):
    done = playbook("site.yml", *SHORT, timeout=600, ANSIBLE_VERBOSITY="3", ANSIBLE_DISPLAY_OK_HOSTS="true")
    assert done.returncode == 0, done.stdout
    changed = re.findall(r"^changed: \[(.+?)\]", done.stdout, re.MULTILINE)
    assert len(changed) == 1, changed
    before_benchmark = done.stdout.split("PLAY [Run the benchmark and render the report]")[0]
    executions = Counter(re.findall(r"^<(\S+)> SSH: EXEC ssh ", before_benchmark, re.MULTILINE))
    assert len(executions) == len(NODES), executions
    assert all(0 < count <= MOST_EXECUTIONS for count in executions.values()), executions
    assert "TASK [Gathering Facts]" not in done.stdout


def deployed(playbook):
    """Run deploy.yml and return its output and on which hosts it changed something."""
    done = playbook("deploy.yml", ANSIBLE_DISPLAY_OK_HOSTS="true")
    assert done.returncode == 0, done.stdout
    return done.stdout, {host for host, counts in recap(done.stdout).items() if counts["changed"]}


def test_what_an_earlier_run_did_not_come_to_prove_is_proven_now(site, playbook, on_node):
    note = "/var/lib/taco-train/ssh/proven"
    on_node(NODES[1], "rm", note)
    output, changed = deployed(playbook)
    assert not changed
    (proof,) = re.findall(
        r"TASK \[taco\.train\.ssh_trust : Verify that every host can log in to every other host\] \*+\n((?:.+\n)+)",
        output,
    )
    assert sorted(re.findall(r"^ok: \[(.+)\]$", proof, re.MULTILINE)) == sorted(NODES), output
    # The checksum of the same peers, and the id of each container.
    proofs = [on_node(node, "cat", note).split()[-2:] for node in NODES]
    assert proofs[0][0] == proofs[1][0] and proofs[0][1] != proofs[1][1], proofs


def test_what_somebody_changed_since_is_seen_and_put_right(site, playbook, on_node):
    first, second = NODES
    name = inspected(on_node, second, ".Config.Image")
    on_node(first, "docker", "exec", "taco-train", "sh", "-c", "kill $(cat /run/taco-train-sshd.pid)")
    on_node(second, "docker", "update", "--restart", "no", "taco-train")
    # Not of the first host, so that one which has its keys comes before one that needs them.
    on_node(second, "sh", "-c", "rm /var/lib/taco-train/ssh/*")
    assert deployed(playbook)[1] == {first, second}
    assert inspected(on_node, second, ".HostConfig.RestartPolicy.Name") == "unless-stopped"
    assert first in on_node(second, "docker", "exec", "taco-train", "ssh", first, "hostname")
    assert second in on_node(first, "docker", "exec", "taco-train", "ssh", second, "hostname")

    # The name of the image is that of another one now, and one host has forgotten its peer.
    on_node(second, "sh", "-c", f"docker tag {name} {name}-kept && docker commit taco-train {name}")
    on_node(first, "sh", "-c", "echo '[]' > /var/lib/taco-train/ssh/peers.json")
    before = inspected(on_node, second, ".Image")
    assert deployed(playbook)[1] == {first, second}
    assert inspected(on_node, second, ".Image") != before
    assert second in on_node(first, "docker", "exec", "taco-train", "ssh", second, "hostname")

    on_node(second, "docker", "tag", f"{name}-kept", name)
    assert deployed(playbook)[1] == {second}
    assert inspected(on_node, second, ".Image") == before


def require_refused(done, *words):
    """Check that a run was refused with these words and with the name of each node."""
    assert done.returncode != 0, done.stdout
    for word in words + NODES:
        assert word in done.stdout, (word, done.stdout)
    assert "Traceback" not in done.stdout


def test_preflight_names_everything_that_is_wrong_also_beside_hosts_that_are_not_observed(
    site, command, results, tmp_path
):
    """A host that can't be reached and one without Python are findings, and hide none of other hosts."""
    hosts = {
        "away": {"ansible_host": "127.0.0.1", "ansible_port": 9},
        "no-python": {"ansible_connection": "local", "ansible_python_interpreter": "/no/such/python3"},
    }
    extra = tmp_path / "more.yml"
    extra.write_text(yaml.safe_dump({"gpu_nodes": {"hosts": hosts}}))
    wrong = {"hugepages_cuont": 4, "eni_count": 3, "taco_gpus_per_node": 0, "harp_script_sha256": None}
    variables = json.dumps({"taco_results_dir": str(results), **wrong})
    done = command("ansible-playbook", "playbooks/preflight.yml", "-i", INVENTORY, "-i", extra, "-e", variables)
    require_refused(done, "hugepages_cuont", "hugepages_count", "eni.count", "eni_count", "gpu.declared")
    require_refused(
        done, "taco_gpus_per_node", "harp.checksum", "harp_script_sha256", "away", "no-python", "host.observed"
    )


# What is wrong -> the playbook, the variables that make it so, and what the message must hold.
BAD_INPUT = {
    "wrong checksum": ("prepare.yml", {"harp_script_sha256": "0" * 64}, ("harp_script_sha256", "0" * 64)),
    "no such image": (
        "deploy.yml",
        {"taco_image": "taco-lab/no-such-image:1", "taco_container_name": "taco-other"},
        ("taco-lab/no-such-image:1", "taco_image"),
    ),
}


@pytest.mark.parametrize("what", BAD_INPUT)
def test_bad_input_names_the_variable_and_the_hosts(site, playbook, what):
    name, variables, words = BAD_INPUT[what]
    require_refused(playbook(name, "-e", json.dumps(variables)), *words)


def test_a_template_that_renders_nothing_is_refused_before_a_file_is_written(site, playbook, on_node, tmp_path):
    template = tmp_path / "empty.j2"
    template.write_text("{# nothing #}\n")
    before = on_node(NODES[0], "ls", "-l", "--time-style=full-iso", "/usr/local/tfabric/tools/config")
    done = playbook("prepare.yml", "-e", json.dumps({"harp_source": "template", "harp_template": str(template)}))
    assert done.returncode != 0
    assert "harp_template" in done.stdout and NODES[0] in done.stdout, done.stdout
    assert on_node(NODES[0], "ls", "-l", "--time-style=full-iso", "/usr/local/tfabric/tools/config") == before


BAD_RUN = {
    "hangs": ({"benchmark_options": {**OPTIONS, "num_iters": 1000000}, "benchmark_timeout": 5}, "benchmark_timeout"),
    "wrong host": ({"benchmark_hosts": [{"name": "nosuchhost", "slots": 1}]}, "nosuchhost"),
}


@pytest.mark.parametrize("what", BAD_RUN)
def test_a_failed_run_is_recorded_with_its_log_and_leaves_nothing_running(site, playbook, on_node, results, what):
    variables, named = BAD_RUN[what]
    done = playbook("benchmark.yml", *SHORT, "-e", json.dumps(variables), timeout=180)
    assert done.returncode != 0
    assert named in done.stdout, done.stdout
    folder, record = newest_record(results)
    assert record["outcome"] == "failed" and record["problems"] and record["result"] is None
    assert (folder / record["log"]).exists()
    assert record["timed_out"] is ("benchmark_timeout" in variables)
    assert "FAILED" in (folder / "report.html").read_text().upper()
    for node in NODES:
        processes = on_node(node, "docker", "top", "taco-train")
        assert "sshd" in processes, processes
        assert "mpirun" not in processes and "gradient_exchange" not in processes, processes

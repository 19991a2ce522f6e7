# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The roles benchmark and report in a play over two hosts, with an mpirun that prints what a test asks for."""

import functools
import hashlib
import http.server
import json
import re
import sys
import threading

import jinja2
import playbook
import pytest
import yaml

OUTPUT = """\
Model: ResNet50
Batch size: 8
Number of CPUs: 4
Running warmup...
Running benchmark...
Iter #0: 100.0 img/sec per CPU
Img/sec per CPU: 100.0 +-0.0
Total img/sec on 4 CPU(s): 400.0 +-0.0
"""
PLAY = """
- name: Benchmark
  hosts: gpu_nodes
  gather_facts: false
  any_errors_fatal: true
  tasks:
    - name: Run the benchmark, then always render the report
      block:
        - name: Run the benchmark
          ansible.builtin.import_role:
            name: taco.train.benchmark
      always:
        - name: Render the report
          ansible.builtin.import_role:
            name: taco.train.report
"""


SCRIPT = "tensorflow_synthetic_benchmark.py"
CONTENT = b"print('the benchmark')\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
DELIVERED = f"state/horovod/scripts/{SHA256[:12]}/{SCRIPT}"


class Cluster:
    """Two hosts that are this machine, and the results of plays over them."""

    def __init__(self, folder):
        self.folder = folder
        self.calls = folder / "calls"
        self.fake("cat <<'END'\n" + OUTPUT + "END\n")
        (folder / "libnccl-net.so").write_text("the plugin")
        (folder / SCRIPT).write_bytes(CONTENT)
        (folder / "play.yml").write_text(PLAY)

    def fake(self, script):
        path = self.folder / "mpirun"
        path.write_text(f"#!/bin/sh\necho called >> {self.calls}\n{script}")
        path.chmod(0o755)

    def play(self, *arguments, **variables):
        common = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "taco_gpus_per_node": 2,
            "taco_lab": True,
            "taco_results_dir": str(self.folder / "results"),
            "taco_state_dir": str(self.folder / "state"),
            # The launchers of tests beside this one are processes of the same machine.
            "taco_interrupt_running_work": True,
            "benchmark_exec_prefix": [],
            "benchmark_mpirun": str(self.folder / "mpirun"),
            "benchmark_device": "CPU",
            "benchmark_options": {"batch_size": 8, "script": SCRIPT},
            "benchmark_plugin_path": str(self.folder / "libnccl-net.so"),
        }
        hosts = {name: {"taco_node": {"hostname": name}} for name in ("node-a", "node-b")}
        inventory = {"gpu_nodes": {"hosts": hosts, "vars": dict(common, **variables)}}
        (self.folder / "hosts.yml").write_text(yaml.safe_dump(inventory))
        # Both hosts write to the same folder, which ansible.builtin.copy creates only for one at a time.
        command = ["play.yml", "-i", "hosts.yml", "--forks", "1", *arguments]
        status, output = playbook.run(self.folder, command)
        # The printed lines are wrapped as YAML pleases.
        return status, " ".join(output.split())

    def run_dir(self):
        return self.folder / "results/latest"

    def record(self):
        (line,) = (self.run_dir() / "records.jsonl").read_text().splitlines()
        return json.loads(line)


@pytest.fixture
def cluster(tmp_path):
    return Cluster(tmp_path)


def test_a_play_ends_in_a_table_and_a_report(cluster):
    rc, output = cluster.play()
    assert rc == 0, output
    assert cluster.calls.read_text() == "called\n"
    record = cluster.record()
    assert record["hosts"] == [{"name": "node-a", "slots": 2}, {"name": "node-b", "slots": 2}]
    assert (record["ranks"], record["parameters"]["launcher"]) == (4, "node-a")
    assert {name: system["hostname"] for name, system in record["system"].items()} == {
        "node-a": "node-a",
        "node-b": "node-b",
    }
    assert "400.0" in (cluster.run_dir() / "table.md").read_text()
    assert "400.0" in (cluster.run_dir() / "report.html").read_text()
    assert "400.0 ± 0.0" in output and re.search(r"Report: \S+/report.html", output)
    assert (cluster.folder / "state/logs" / (record["id"] + ".log")).read_text() == OUTPUT
    path = cluster.folder / DELIVERED
    assert path.read_bytes() == CONTENT and str(path) in record["argv"]
    assert record["script"] == {"source": SCRIPT, "path": str(path), "sha256": SHA256}
    witnesses = record["witnesses"]
    assert set(witnesses["hosts"]) == {"node-a", "node-b"} and None not in witnesses["hosts"].values()
    assert witnesses["path"]["verdict"] == "unknown" and witnesses["too_few"].startswith("too few hosts")
    assert [path.name for path in (cluster.folder / "state/logs").iterdir()] == [record["id"] + ".log"]
    # The report is rendered again from what is kept.
    report = cluster.run_dir() / "report.html"
    before = report.read_bytes()
    # A line that a crash cut off must not keep the rest from being shown.
    with (cluster.run_dir() / "records.jsonl").open("a") as stream:
        stream.write('{"schema": 1, "id')
    (cluster.run_dir() / "verdict.json").write_text("{")
    (cluster.folder / "play.yml").write_text(
        "- name: Report\n  hosts: gpu_nodes\n  gather_facts: false\n  roles:\n    - taco.train.report\n"
    )
    rc, output = cluster.play(taco_run_dir=str(cluster.run_dir().resolve()))
    assert rc == 0 and "changed=0" in output and "changed=1" not in output, output
    after = report.read_text()
    assert "400.0" in after and report.read_bytes() != before
    assert "Line 2 of records.jsonl is not a record" in after and "verdict.json can&#39;t be read" in after


@pytest.fixture
def site(tmp_path):
    """A web server with the script, by its URL, and the paths that were fetched from it."""
    fetched = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_arguments):
            fetched.append(self.path)

    (tmp_path / "site").mkdir()
    (tmp_path / "site" / SCRIPT).write_bytes(CONTENT)
    handler = functools.partial(Handler, directory=str(tmp_path / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{SCRIPT}", fetched
        server.shutdown()


def test_a_script_of_a_url_is_downloaded_and_delivered_once(cluster, site):
    url, fetched = site
    for _time in (1, 2):
        rc, output = cluster.play(benchmark_options={"script": url, "script_checksum": "sha256:" + SHA256})
        assert rc == 0 and (cluster.folder / DELIVERED).read_bytes() == CONTENT, output
    assert re.search(r"node-b : ok=\d+ changed=0", output), output
    assert fetched == ["/" + SCRIPT]


def test_a_worker_without_the_script_is_named_before_mpirun_starts(cluster):
    rc, output = cluster.play(benchmark_options={"script": None})
    assert rc != 0 and not cluster.calls.exists()
    assert "there is no /mnt/tensorflow_synthetic_benchmark.py on node-a, node-b (benchmark_options.script)" in output
    assert "To fix it, set benchmark_options.script to a URL or to a file on the controller" in output
    record = cluster.record()
    assert (record["outcome"], record["script"]["sha256"]) == ("failed", None)


def test_variables_reach_the_command(cluster):
    rc, output = cluster.play(
        benchmark_hosts=[{"name": "elsewhere", "slots": 4}],
        benchmark_launcher="node-b",
        benchmark_exec_prefix=["env"],
        benchmark_interface="bond0",
        benchmark_arm="harp",
        benchmark_env={"NCCL_DEBUG": "WARN"},
        benchmark_mca={"btl": "^openib"},
        benchmark_options={"model": "VGG16", "num_iters": 1, "batch_size": 8, "script": SCRIPT},
        benchmark_timeout=77,
        benchmark_witnesses=False,
        report_title="My title",
    )
    assert rc == 0, output
    record = cluster.record()
    assert "witnesses" not in record and not (cluster.folder / "state/counters").exists()
    assert record["parameters"]["launcher"] == "node-b"
    assert " ".join(record["argv"]).replace(str(cluster.folder), "") == (
        "env timeout --foreground -k 10 77 /mpirun -np 4 -H elsewhere:4 --allow-run-as-root --bind-to none --map-by slot "
        "-x NCCL_ALGO=RING -x NCCL_DEBUG=WARN -x LD_LIBRARY_PATH -x PATH "
        "-mca btl_tcp_if_include bond0 -mca btl ^openib "
        f"python3 /{DELIVERED} --model=VGG16 --batch-size=8 --num-iters=1 --no-cuda"
    )
    assert "<h1>My title: " in (cluster.run_dir() / "report.html").read_text()


def test_the_container_is_the_default_place(cluster):
    script = {"script": "https://localhost/" + SCRIPT, "script_checksum": "sha256:" + SHA256}
    rc, output = cluster.play(
        "--check", benchmark_exec_prefix=None, taco_container_name="mine", benchmark_options=script
    )
    assert rc == 0 and f"python3 {cluster.folder / DELIVERED}" in output, output
    assert "docker exec mine timeout --foreground -k 10 1800" in output
    assert not cluster.calls.exists() and not (cluster.folder / "results").exists()


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        (
            {"training_container_profile": "ttf"},
            ("-np 2 -H localhost:2 ", "-x NCCL_ALGO=RING -x NCCL_DEBUG=INFO -x LD_"),
        ),
        ({"training_container_profile": "lightcc"}, ("-np 2 -H node-a:2 ", "-x LIGHT_2D_ALLREDUCE=1")),
        ({"taco_platform": "ack"}, ("-x NCCL_DEBUG=INFO -x NCCL_SOCKET_IFNAME=eth0 -x LD_", "-mca pml ob1")),
    ],
)
def test_the_profile_and_the_platform_decide_on_the_command(cluster, variables, words):
    rc, output = cluster.play("--check", "--limit", "node-a", benchmark_exec_prefix=None, **variables)
    assert rc == 0 and all(word in output for word in words), output


def test_a_failed_run_is_reported_and_fails_the_play(cluster):
    cluster.fake("echo 'ssh: Could not resolve hostname node-b: Name or service not known'; exit 255\n")
    rc, output = cluster.play()
    assert rc != 0
    assert "the name of the host node-b can't be resolved" in output and "benchmark_hosts" in output
    assert "The log has: ssh: Could not resolve hostname node-b" in output
    assert cluster.record()["outcome"] == "failed" and cluster.record()["witnesses"]["runs"] == 1
    report = (cluster.run_dir() / "report.html").read_text()
    assert "No result: the run failed." in report and "The name of the host node-b can" in report
    assert re.search(r"Report: \S+/report.html", output)


ABSENT = """
- name: Roll back
  hosts: gpu_nodes
  gather_facts: false
  tasks:
    - name: Remove the files of benchmarks from the hosts
      ansible.builtin.import_role:
        name: taco.train.benchmark
        tasks_from: absent
"""


def test_what_benchmarks_left_on_the_hosts_can_be_removed(cluster):
    (cluster.folder / "play.yml").write_text(ABSENT)
    state = cluster.folder / "state"
    build = state / "horovod/horovod-0.21.3-0123456789ab"
    (build / "horovod").mkdir(parents=True)
    (state / "horovod/horovod-0.21.3-0123456789ab.log").write_text("built")
    (state / "horovod/mine").mkdir()
    (state / "horovod/scripts/0123456789ab").mkdir(parents=True)
    (state / "horovod/scripts/0123456789ab/train.py").write_text("")
    (state / "logs").mkdir()
    (state / "logs/20260131T120000Z-taco-0a1b2c.log").write_text("Total")
    before = sorted(state.rglob("*"))
    rc, output = cluster.play("--check", "--limit", "node-a")
    assert rc == 0 and "changed=3" in output, output
    assert sorted(state.rglob("*")) == before
    rc, output = cluster.play("--limit", "node-a")
    assert rc == 0 and "changed=3" in output, output
    assert sorted(state.rglob("*")) == [state / "horovod", state / "horovod/mine"]
    assert "changed=0" in cluster.play("--limit", "node-a")[1]


@pytest.mark.parametrize(
    ("prefix", "container"),
    [
        (["docker", "exec", "taco-train"], "taco-train"),
        (["ssh", "-q", "gpu1"], ""),
        ([], ""),
        (["docker", "exec", "-i", "train"], ""),
    ],
)
def test_only_an_engine_with_exec_names_a_container(prefix, container):
    roles = playbook.ROOT / "collections/ansible_collections/taco/train/roles"
    text = yaml.safe_load((roles / "benchmark/vars/main.yml").read_text())["__benchmark_container"]
    assert jinja2.Template(text).render(__benchmark_exec_prefix=prefix) == container

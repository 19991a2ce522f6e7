# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An MPIJob is removed with its logs kept, and not under running work."""

from pathlib import Path

import pytest
from mpijob_actor import NODES, WORKERS

from ansible_collections.taco.train.plugins.module_utils.cluster.work import started


def test_removing_keeps_the_logs_and_waits_until_all_is_gone(on):
    actor = on(serve=("v2beta1",))
    launcher = actor.run()["launcher"]["pod"]
    actor.cluster.log(launcher, "Total img/sec\n")
    gone = actor.run(state="absent", definition=None)
    assert gone["changed"]
    assert {name: Path(path).read_text() for name, path in gone["logs"].items()}[launcher] == "Total img/sec\n"
    assert actor.jobs() == [] and actor.cluster.objects("Pod") == []
    assert not actor.run(state="absent")["changed"]


def test_nothing_is_removed_whose_logs_can_not_be_kept(on):
    actor = on()
    actor.run()
    actor.cluster.forbid("get", "pods/log")
    actor.refused("nothing was deleted", '"resources": ["pods/log"]', state="absent")
    assert actor.jobs() == ["taco-bench"]


LOGS = "/pods/taco-bench-worker-1/log"
KUBELET = 'Get "https://10.0.0.5:10250/containerLogs/default/taco-bench-worker-1/mpi-worker": dial tcp 10.0.0.5:10250: connect: '


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, KUBELET + "connection refused"),
        (404, "the server could not find the requested resource"),
        (400, "container mpi-worker is not valid for pod taco-bench-worker-1"),
    ],
    ids=["refused", "not found", "invalid"],
)
def test_a_job_stays_while_the_log_of_a_pod_can_not_be_read(on, status, said):
    actor = on()
    actor.run()
    actor.cluster.fail(method="GET", path=LOGS, status=status, body=said, times=99)
    words = ["the MPIJob taco-bench is not deleted", "taco-bench-worker-1: ", "mpijob_allow_lost_logs: true"]
    actor.refused(*words, *([] if status == 404 else [said]), state="absent")
    actor.refused(*words, gpus_per_worker=4, replace=True)
    assert actor.jobs() == ["taco-bench"]
    gone = actor.run(state="absent", allow_lost_logs=True)
    (warning,) = [text for text in gone["warnings"] if "was lost" in text]
    assert "taco-bench-worker-1: " in warning and "kubectl get node gpu-" in warning
    assert actor.jobs() == [] and Path(gone["logs"][WORKERS[1]]).read_text().startswith("There is no log: ")


def test_a_log_that_can_be_read_at_the_second_try_is_kept(on):
    actor = on()
    actor.run()
    actor.cluster.log(WORKERS[1], "loss 0.2\n")
    actor.cluster.fail(method="GET", path=LOGS, status=500, body=KUBELET + "i/o timeout", times=2)
    assert Path(actor.run(state="absent")["logs"][WORKERS[1]]).read_text() == "loss 0.2\n"


def test_containers_that_never_started_have_no_log_to_lose(on):
    actor = on()
    actor.cluster.script("worker", ["ContainerCreating"])
    actor.refused("workers are ready", wait_timeout=1)
    # Also when the node is lost, so that nobody can say it.
    actor.cluster.fail(method="GET", path=LOGS, status=500, body=KUBELET + "i/o timeout", times=99)
    gone = actor.run(state="absent")
    assert not any("was lost" in text for text in gone.get("warnings", [])) and actor.jobs() == []
    assert "is waiting to start" in Path(gone["logs"][WORKERS[0]]).read_text()


def test_a_job_whose_launcher_runs_its_command_is_not_ended_unasked(on):
    actor = on(NODES)
    train = ["python3", "train.py"]
    actor.run(command=train)
    words = (
        "would end running work",
        "the launcher pod taco-bench-launcher",
        "python3 train.py",
        "taco_interrupt_running_work",
    )
    before = actor.written()
    actor.refused("the deletion", *words, state="absent")
    actor.refused("the replacement", *words, command=train, gpus_per_worker=4, replace=True)
    assert actor.written() == before and actor.jobs()
    warned = actor.run(check=True, state="absent")
    assert warned["changed"] and any("would end running work" in one for one in warned["warnings"])
    assert actor.run(state="absent", interrupt_running_work=True)["changed"]
    assert not actor.jobs()


@pytest.mark.parametrize(
    ("processes", "found"),
    [
        ("sleep infinity \nsh -c x \n\n", []),
        ("/usr/local/openmpi/bin/mpirun -np 16 python3 a.py \n", ["/usr/local/openmpi/bin/mpirun -np 16 python3 a.py"]),
        (
            "/usr/bin/python3 /usr/local/bin/horovodrun -np 2 x\n",
            ["/usr/bin/python3 /usr/local/bin/horovodrun -np 2 x"],
        ),
        ("grep -r x mpirun\n", []),
    ],
)
def test_ranks_are_running_while_a_program_that_starts_them_is_there(processes, found):
    assert started(processes) == found

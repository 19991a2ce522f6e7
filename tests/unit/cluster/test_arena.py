# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The arguments of Arena for a job, and the meaning of what it prints."""

import json
import shlex

import pytest

from ansible_collections.taco.train.plugins.filter.mpijob import mpijob_manifest
from ansible_collections.taco.train.plugins.module_utils.cluster import arena_command, arena_status
from ansible_collections.taco.train.plugins.module_utils.cluster.definition import Definition
from ansible_collections.taco.train.plugins.module_utils.cluster.resources import MpijobError

IMAGE = "registry.cn-hangzhou.aliyuncs.com/kubernetes-image-hub/tensorflow-benchmark:tf2.3.0-py3.7-cuda10.1"
# The document's job, without what Arena can't say.
NAME = "tensorflow-topo-4-vgg16"
PLAIN = {"shm_size": 0, "hugepages": 0, "privileged": False, "mounts": [], "memory": "32Gi"}


def submit_argv(namespace=None, config=None, arena="arena", **options):
    basics = {"workers": 4, "gpus_per_worker": 1, "image": IMAGE, **PLAIN}
    definition = Definition(mpijob_manifest({**basics, **options}), NAME)
    return arena_command.submit_argv(definition, NAME, namespace, config, arena)


def test_the_job_of_the_document():
    command = [
        "mpirun",
        "--allow-run-as-root",
        "-np",
        "4",
        "python",
        "/tensorflow/tf_cnn_benchmarks.py",
        "--model=vgg16",
    ]
    assert submit_argv(gpu_topology=True, command=command) == [
        *(
            "arena",
            "submit",
            "mpi",
            "--name=tensorflow-topo-4-vgg16",
            "--label=app.kubernetes.io/managed-by=taco.train",
        ),
        *("--workers=4", "--gpus=1", "--gputopology=true"),
        *(f"--image={IMAGE}", "--memory=32Gi", "--clean-task-policy=Running"),
        "mpirun --allow-run-as-root -np 4 python /tensorflow/tf_cnn_benchmarks.py --model=vgg16",
    ]


def test_all_that_arena_can_say():
    argv = submit_argv(
        "training",
        "/etc/kube/config",
        "/opt/arena",
        environment={"NCCL_DEBUG": "INFO", "ODD": "a b=$c $(d)"},
        mounts=["/data:/data", "/a b:/c"],
        network_mode="host",
        clean_pod_policy="All",
        command=["sh", "-c", "sleep infinity"],
    )
    assert argv[0] == "/opt/arena" and argv[-1] == "sh -c 'sleep infinity'"
    expected = {"--namespace=training", "--config=/etc/kube/config", "--gputopology=false", "--hostNetwork=true"}
    expected |= {"--env=NCCL_DEBUG=INFO", "--env=ODD=a b=$$c $$(d)", "--data-dir=/data:/data", "--data-dir=/a b:/c"}
    assert expected | {"--clean-task-policy=All"} <= set(argv)
    assert "--hostNetwork=true" not in submit_argv(network_mode="host", gpu_topology=True)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"hugepages": None}, "hugepages (15Gi for each worker; set mpijob_hugepages: 0)"),
        ({"shm_size": "8g"}, "the size of /dev/shm (8Gi; set mpijob_shm_size: 0)"),
        ({"privileged": True}, "privileged (set mpijob_privileged: false)"),
        ({"launcher_cpu": 4}, "the resources of the launcher"),
        ({"mounts": ["/data:/data:ro"]}, "a read-only mount (/data; leave out :ro)"),
        ({"image": 'a"b'}, "a double quote"),
        ({"command": ["echo", 'say "x"']}, "a double quote"),
        ({"command": ["echo", "a\\b"]}, "a backslash"),
        ({"environment": {"A": "two\nlines"}}, "the environment variable A"),
    ],
)
def test_what_arena_can_not_say_is_refused_and_named(options, named):
    with pytest.raises(MpijobError) as caught:
        submit_argv(**options)
    assert named in str(caught.value)


def test_everything_that_is_missing_is_named_at_once():
    with pytest.raises(MpijobError, match="hugepages.*; the size of.*; privileged"):
        submit_argv(hugepages=None, shm_size="8g", privileged=True)


@pytest.mark.parametrize(
    ("role", "part", "named"),
    [
        ("Worker", {"nodeSelector": {"disk": "ssd"}}, "nodeSelector"),
        ("Launcher", {"tolerations": []}, "tolerations"),
        ("Worker", {"containers": [{"lifecycle": {}}]}, "lifecycle"),
        ("Worker", {"containers": [{"securityContext": {"runAsUser": 0}}]}, "runAsUser"),
        ("Worker", {"containers": [{"resources": {"limits": {"memory": "1Gi", "rdma/hca": 1}}}]}, "rdma/hca"),
    ],
)
def test_a_part_of_a_definition_that_the_chart_has_no_place_for_is_refused(role, part, named):
    manifest = mpijob_manifest({"workers": 1, "gpus_per_worker": 1, "image": IMAGE, **PLAIN})
    pod = manifest["spec"]["mpiReplicaSpecs"][role]["template"]["spec"]
    for container in part.pop("containers", []):
        pod["containers"][0].update(container)
    pod.update(part)
    with pytest.raises(MpijobError, match=f"{named} of the definition"):
        arena_command.submit_argv(Definition(manifest, NAME), NAME, None)


def test_a_launcher_without_a_command_is_refused():
    manifest = mpijob_manifest({"workers": 1, "gpus_per_worker": 1, "image": IMAGE, **PLAIN})
    del manifest["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]["command"]
    with pytest.raises(MpijobError, match="Arena needs a command"):
        arena_command.submit_argv(Definition(manifest, NAME), NAME, None)


@pytest.mark.parametrize("word", ["a b", "$HOME", "*", "it's", "", "a;b", "ä"])
def test_a_command_reaches_the_shell_word_by_word(word):
    command = ["echo", word]
    if "'" in word:
        # The only way to quote it has a double quote in it.
        with pytest.raises(MpijobError, match="double quote"):
            submit_argv(command=command)
        return
    assert shlex.split(submit_argv(command=command)[-1]) == command


def test_the_other_verbs():
    assert arena_command.verb_argv("get", "j", "ns", "/c") == [
        *("arena", "get", "j", "--type=mpijob", "--namespace=ns", "--config=/c", "--output=json")
    ]
    assert arena_command.verb_argv("delete", "j", None) == ["arena", "delete", "j", "--type=mpijob"]


def said(status="RUNNING", pods=None, **more):
    instances = [
        {"name": name, "status": state, "node": node, "chief": "launcher" in name, "gpuMetrics": {}}
        for name, (state, node) in (pods or {}).items()
    ]
    return json.dumps(dict({"name": "j", "namespace": "default", "status": status, "instances": instances}, **more))


RUNNING = {"j-launcher-a": ("Running", "n1"), "j-worker-0": ("Running", "n2"), "j-worker-1": ("Running", "n2")}


def test_a_running_job():
    found = arena_status.read('time="x" level=warning\n' + said(pods=RUNNING, modelName="new in 0.9"), "j")
    assert (found.phase, found.launcher) == ("RUNNING", "j-launcher-a")
    assert found.placement == {"j-worker-0": "n2", "j-worker-1": "n2"}
    assert arena_status.missing(found, 2) == []
    assert arena_status.missing(found, 3) == ["j-worker-2 doesn't exist yet"]


def test_a_job_that_waits_for_room():
    pods = {"j-worker-0": ("Pending", "N/A"), "j-worker-1": ("Running", "n2")}
    found = arena_status.read(said("PENDING", pods), "j")
    assert found.placement == {"j-worker-1": "n2"} and found.launcher is None
    assert arena_status.missing(found, 2) == ["j-worker-0 is Pending", "the launcher doesn't exist yet"]


def test_of_several_launchers_the_one_that_runs_counts():
    pods = {"j-launcher-a": ("Failed", "n1"), "j-launcher-b": ("Running", "n1"), **RUNNING}
    pods["j-launcher-a"] = ("Failed", "n1")
    assert arena_status.read(said(pods=pods), "j").launcher == "j-launcher-b"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Name:      j\nStatus:    RUNNINGNamespace: default", "printed no JSON about j, but: Name: j Status:"),
        ("", "printed no JSON about j, but: nothing"),
        ("{", "printed no JSON"),
        ("[]", "printed no JSON"),
        (said(name="k"), "printed no JSON about j"),
        (said(None), "printed None as status of j"),
        (said(instances="two"), "printed 'two' as instances of j"),
        (said(instances=["x"]), "printed 'x' as chief of j or a pod of it: expected the JSON of Arena 0.5"),
        (said(instances=[{"name": "p", "status": "Running"}]), "printed None as chief of j"),
        (said(instances=[{"name": "p", "chief": True}]), "printed None as status of j or a pod"),
    ],
)
def test_what_is_needed_must_be_there(text, wrong):
    with pytest.raises(MpijobError) as caught:
        arena_status.read(text, "j")
    assert wrong in str(caught.value)


def test_a_status_that_is_not_known_is_waited_out():
    found = arena_status.read(said("UNKNOWN", RUNNING), "j")
    assert arena_status.missing(found, 2) == [
        "arena get says that j is 'UNKNOWN': expected one of PENDING, QUEUING, RUNNING, SUCCEEDED, FAILED"
    ]
    assert "see arena version" in arena_status.advice(found, None)


@pytest.mark.parametrize("before", ["throttled {map[a:b]}\n", '{"level": "info"}\n', "{\n", '{"name": "k"} {'])
@pytest.mark.parametrize("after", ["", '\n{"level": "info"}'])
def test_braces_around_the_answer_are_passed_over(before, after):
    found = arena_status.read(before + said(pods=RUNNING) + after, "j")
    assert (found.phase, len(found.instances)) == ("RUNNING", 3)


def test_no_pods_yet_is_no_error():
    assert arena_status.read(said(instances=None), "j").instances == ()


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("Not found training job j in namespace default,please use 'arena submit' to create it.", True),
        ("training job not found,please use 'arena list' to make sure job is existed", True),
        ("time=x level=error msg=\"The training job 'j' does not exist,skip to delete it\"", True),
        ("Failed to find the job for j", True),
        ("dial tcp 10.0.0.1:6443: connect: connection refused", False),
        ('error: context "zz" does not exist', False),
        ('cluster "prod" does not exist', False),
        ("the configuration file /root/.kube/config does not exist", False),
        ('namespaces "train" is not found', False),
        ("the CRD mpijobs.kubeflow.org is not found, please install it", False),
        ("failed to find mpijob j from api server,reason: the server could not find the requested resource", False),
    ],
)
def test_that_there_is_no_such_job(text, absent):
    assert arena_status.is_absent(text) is absent


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", ""),
        ("one\ntwo\n\nthree\n four \n", "two; three; four"),
        ("ERROR: no device\n" + "detail\n" * 5 + "mpirun ended\n", "ERROR: no device"),
        ("".join(f"ERROR: {'x' * 200} {number}\n" for number in (1, 2)), f"ERROR: {'x' * 200} 1; ERROR: {'x' * 200} 2"),
    ],
)
def test_the_last_words_of_a_log_are_whole_lines_that_name_the_error(log, words):
    assert arena_status.last_words(log) == words


def instances(*statuses):
    """Return a job with one worker and its launcher in two states."""
    worker, launcher = (*statuses, "Running")[:2]
    pods = (
        arena_status.Instance("j-worker-0", worker, "n1", False),
        arena_status.Instance("j-launcher-x", launcher, "", True),
    )
    return arena_status.ArenaJob("j", "train", "PENDING", pods)


@pytest.mark.parametrize(
    ("found", "said", "none"),
    [
        (instances("Running", "Pending"), "dial tcp 10.0.0.5:10250: i/o timeout", True),
        (instances("Running"), 'container "mpi" in pod "j-launcher-x" is waiting to start: ContainerCreating', True),
        (instances("Running"), 'pods "j-launcher-x" not found', True),
        (instances("Running"), "dial tcp 10.0.0.5:10250: i/o timeout", False),
        (instances("Running"), 'configmaps "x" not found', False),
    ],
)
def test_a_log_that_does_not_exist_is_told_from_one_that_can_not_be_read(found, said, none):
    assert arena_status.has_no_log(found, said) is none


@pytest.mark.parametrize(
    ("found", "trouble", "words"),
    [
        (None, "arena get failed", "Check that the API server answers"),
        (None, None, "kubectl get pods --namespace arena-system"),
        (instances("Running")._replace(phase="QUEUING"), None, "It waits in a queue"),
        (instances("Running")._replace(phase="RUNNING"), None, "raise wait_timeout"),
        (instances("Pending"), None, "kubectl describe pod j-worker-0 --namespace train"),
        (instances("Running")._replace(instances=()), None, "kubectl describe mpijob j --namespace train"),
    ],
)
def test_a_wait_that_ends_says_what_to_check(found, trouble, words):
    assert words in arena_status.advice(found, trouble)


def test_what_is_left_is_named_with_its_nodes():
    assert arena_status.left(instances("Terminating")) == (
        "j-worker-0 (Terminating on n1), j-launcher-x (Running): check that its nodes answer (kubectl get node n1), and `kubectl describe "
        "mpijob j --namespace train`"
    )
    assert "finalizer" in arena_status.left(instances("Running")._replace(instances=()))

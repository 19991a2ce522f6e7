# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbooks don't take another strategy from the configuration, and the roles refuse one in a play of the user's."""

import pytest
import yaml
from playbook import COLLECTIONS
from played import run

COLLECTION = COLLECTIONS / "ansible_collections/taco/train"
PLAYS = [
    pytest.param(play, id=f"{path.stem}: {play['name']}")
    for path in sorted(COLLECTION.glob("playbooks/*.yml"))
    for play in yaml.safe_load(path.read_text())
    if "hosts" in play
]
ROLES = sorted(path.name for path in (COLLECTION / "roles").iterdir())
OWN_STRATEGY = """
DOCUMENTATION = "name: {name}\\nshort_description: one of somebody else\\nauthor: somebody\\n"
from ansible.plugins.strategy.{base} import StrategyModule as Base


class StrategyModule(Base):
    pass
"""
STRATEGIES = {
    "linear": True, "ansible.builtin.debug": True, "own_linear": True, "free": False, "host_pinned": False, "own_free": False,
}  # fmt: skip
OF_A_STRATEGY = """
- name: Train
  hosts: {host}
  gather_facts: false
  strategy: {strategy}
  tasks:
    - block:
        - taco.train.role_variables: {{variables: false}}
      rescue:
        - ansible.builtin.debug:
            msg: "refused: {{{{ ansible_failed_result.msg }}}}"
"""
IN_BATCHES = """
- name: Train
  hosts: all
  gather_facts: false
  serial: 1
  tasks:
"""
FREE = """
- name: Train
  hosts: all
  gather_facts: false
  strategy: free
  tasks:
"""
OF_A_ROLE = """
    - block:
        - ansible.builtin.include_role:
            name: taco.train.{role}
      rescue:
        - ansible.builtin.debug:
            msg: "refused: {{{{ ansible_failed_result.msg }}}}"
"""
WITH_A_NEW_HOST = """
- name: Train
  hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.add_host:
        name: gpu3
"""
OWN_PLAY = """
- name: Train
  hosts: all
  gather_facts: false
  roles:
    - taco.train.reboot
"""


@pytest.fixture(scope="module")
def strategies(tmp_path_factory):
    """Return a folder with strategies of somebody else."""
    folder = tmp_path_factory.mktemp("strategies")
    for base in ("linear", "free"):
        (folder / f"own_{base}.py").write_text(OWN_STRATEGY.format(name=f"own_{base}", base=base))
    return folder


@pytest.fixture
def configured(tmp_path, strategies, monkeypatch):
    """Return a folder for plays where these strategies are installed and free is the one of the configuration."""
    monkeypatch.setenv("ANSIBLE_STRATEGY_PLUGINS", str(strategies))
    monkeypatch.setenv("ANSIBLE_STRATEGY", "free")
    return tmp_path


@pytest.mark.parametrize("play", PLAYS)
def test_each_play_sets_the_strategy_linear(play):
    assert play["strategy"] == "ansible.builtin.linear"


def observes(role):
    """Whether a role begins with the role common, which checks the strategy."""
    meta = yaml.safe_load((COLLECTION / "roles" / role / "meta/main.yml").read_text())
    return {"role": "taco.train.common"} in meta["dependencies"]


def test_each_role_that_observes_no_host_checks_the_strategy_itself(configured):
    roles = [role for role in ROLES if role != "common" and not observes(role)]
    play = FREE + "".join(OF_A_ROLE.format(role=role) for role in roles)
    options = {"taco_results_dir": str(configured / "results"), "plan_playbook": "site"}
    status, output = run(configured, play, {"gpu1": {}}, options)
    assert status == 0 and len(roles) == 5, output
    assert output.count("refused: gpu1: the play 'Train' has the strategy free") == len(roles), output


def test_a_strategy_is_refused_unless_it_derives_from_linear(configured):
    hosts = {f"gpu{number}": strategy for number, strategy in enumerate(STRATEGIES)}
    play = "".join(OF_A_STRATEGY.format(host=host, strategy=strategy) for host, strategy in hosts.items())
    status, output = run(configured, play, dict.fromkeys(hosts, {}), {})
    assert status == 0, output
    refused = {strategy for host, strategy in hosts.items() if f"{host}: the play 'Train' has the strategy" in output}
    assert refused == {strategy for strategy, linear in STRATEGIES.items() if not linear}, output
    assert "Set `strategy: ansible.builtin.linear` in the play" in output


def test_a_role_in_a_play_with_the_strategy_free_is_refused_before_it_does_anything(configured):
    hosts = {"gpu1": {}, "gpu2": {}}
    status, output = run(configured, OWN_PLAY, hosts, {"taco_results_dir": str(configured / "results")})
    # The host that gets there first ends the play for all.
    assert status == 2 and ": the play 'Train' has the strategy free" in output, output
    assert "TASK [taco.train.reboot" not in output and "TASK [taco.train.common : Gather" not in output, output


def test_a_playbook_runs_with_its_own_strategy_whatever_is_configured(configured):
    play = f"- ansible.builtin.import_playbook: {COLLECTION}/playbooks/prepare.yml\n"
    options = {"taco_hosts": "all", "taco_results_dir": str(configured / "results")}
    status, output = run(configured, play, {"gpu1": {}, "gpu2": {}}, options, ["--check", "--tags", "always"])
    # Ansible warns of tasks that run once where the strategy is free.
    assert status == 0 and ": Set the folder of the run]" in output and "free" not in output, output


def test_a_role_that_runs_over_all_hosts_is_refused_in_a_play_with_serial(tmp_path):
    roles = ("benchmark", "compare", "locate", "mpijob", "placement", "plan", "ssh_trust")
    play = IN_BATCHES + "".join(OF_A_ROLE.format(role=role) for role in roles)
    options = {"taco_results_dir": str(tmp_path / "results"), "taco_gpus_per_node": 8}
    _status, output = run(tmp_path, play, {"gpu1": {}, "gpu2": {}}, options, ["--check"])
    for role in roles:
        refusal = f"gpu1: the play 'Train' runs on gpu2 at another time, and the role taco.train.{role} needs all hosts"
        assert refusal in output, output


def test_a_host_that_is_added_in_the_play_waits_for_no_batch(tmp_path):
    options = {"taco_results_dir": str(tmp_path / "results"), "taco_gpus_per_node": 8}
    play = WITH_A_NEW_HOST + OF_A_ROLE.format(role="compare")
    _status, output = run(tmp_path, play, {"gpu1": {}, "gpu2": {}}, options, ["--check"])
    assert "TASK [taco.train.compare" in output and "Remove `serial`" not in output, output

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The forecast of reboots in a plan, on machines of the VM lab that really reboot. Begins and ends with machines that reserve no pages."""

import json
import re

import pytest
from integration.vms import INVENTORY, Machines

NODES = ["taco-vm-node-%d" % index for index in range(3)]
MOST_OFF = 0.2


@pytest.fixture(scope="module")
def machines(command):
    found = Machines(command)
    yield found
    done = found.pages(playbook="rollback.yml", reboot_batch="100%")
    assert done.returncode == 0, done.stdout


def seconds_of_batches(output):
    """The seconds that each batch took, as the role reboot measured it."""
    return [int(seconds) for seconds in re.findall(r"It took (\d+) s", " ".join(output.split()))]


def forecast(command, folder, **variables):
    """The reboots of a new plan."""
    extra = {"taco_results_dir": str(folder), "plan_file": str(folder / "plan.json"), **variables}
    done = command("ansible-playbook", "playbooks/plan.yml", "-i", INVENTORY, "-e", json.dumps(extra), timeout=900)
    assert done.returncode == 0, done.stdout
    return json.loads((folder / "plan.json").read_text())["reboots"]


def test_the_forecast_of_a_rolling_reboot_is_near_its_real_time(machines, command, tmp_path):
    # The first reboots are those that the plan forecasts by.
    done = machines.pages(reboot_batch=1, taco_results_dir=str(tmp_path))
    earlier = seconds_of_batches(done.stdout)
    assert done.returncode == 0 and len(earlier) == len(NODES), done.stdout

    planned = forecast(command, tmp_path, hugepages_count=1, reboot_batch=1)
    assert planned["batches"] == [[node] for node in NODES] and "3 earlier reboots of 3 hosts" in planned["basis"]
    done = machines.pages(reboot_batch=1, hugepages_count=1, taco_results_dir=str(tmp_path))
    assert done.returncode == 0, done.stdout
    real = seconds_of_batches(done.stdout)
    print("forecast:", planned["seconds"], "s; real:", real, "s; earlier:", earlier, "s")
    assert len(real) == len(NODES) and abs(planned["seconds"] - sum(real)) <= MOST_OFF * sum(real)

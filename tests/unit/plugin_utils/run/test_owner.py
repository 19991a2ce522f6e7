# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each task of a playbook has the identity of the playbook."""

import multiprocessing
import os

from ansible_collections.taco.train.plugins.plugin_utils.run.owner import identity, is_of_another, playbook


def _report(queue):
    queue.put(playbook())


def test_the_process_of_a_task_has_the_lock_for_its_playbook():
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    task = context.Process(target=_report, args=(queue,))
    task.start()
    assert queue.get() == os.getpid() == playbook()
    task.join()


def test_only_a_running_process_or_one_of_another_controller_is_another_owner():
    own = identity(os.getpid())
    assert not is_of_another({}, own) and not is_of_another(dict(own, user="bob"), own)
    assert is_of_another(identity(os.getppid()), own) and is_of_another(dict(own, controller="elsewhere"), own)
    assert not is_of_another(dict(identity(os.getppid()), started="1"), own)


def test_another_controller_with_the_same_name_is_another_owner():
    own = identity(os.getpid())
    boot, _space, namespace = own["system"].partition(" ")
    for system in (f"{boot} pid:[1]", f"7d0c1f2e-0000-4000-8000-000000000001 {namespace}"):
        # Neither a process that has ended here nor this one is that of the other controller.
        assert is_of_another(dict(own, system=system, started="1"), own) and is_of_another(
            dict(own, system=system), own
        )

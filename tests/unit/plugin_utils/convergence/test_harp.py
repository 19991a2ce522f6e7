# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller answers for a host by one observation exactly where the module would change nothing."""

import pytest
from harp_host import GOOD, HarpHost, node, rendered

from ansible_collections.taco.train.plugins.module_utils._observation.harp import harp
from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.plugin_utils.convergence.harp import KNOWN


@pytest.fixture
def host(tmp_path):
    return HarpHost(tmp_path)


def known(host, **options):
    """Return the answer of the controller by an observation of now, or None."""
    common = dict(config_dir=str(host.config), state_dir=str(host.state), environment=host.environment(), node=node(2))
    options = dict(common, **options)
    observation = dict(options.pop("node"), harp=harp(Root("/"), str(host.config), str(host.state)), observed_at="now")
    return KNOWN.answer(options, observation)


def by_script(host):
    return host.script(GOOD)


def by_template(host):
    return {"source": "template", "rendered": rendered("a", "b")}


@pytest.mark.parametrize(
    "options",
    [
        by_script,
        lambda host: dict(host.script(GOOD), script_content=GOOD),
        lambda host: dict(host.script(GOOD), sha256=None, allow_unverified=True),
        by_template,
        lambda host: {"source": "none"},
    ],
    ids=["script", "content", "unverified", "template", "none"],
)
def test_the_controller_answers_for_a_configured_host_as_the_module_does(host, options):
    options = options(host)
    assert known(host, **options) is None
    host(**options)
    (host.config / "ztcp9.conf").write_text("")
    before, answer = host.tree(), known(host, **options)
    result = host(**options)
    assert host.tree() == before and not result["changed"]
    assert answer == result


@pytest.mark.parametrize("options", [by_script, by_template], ids=["script", "template"])
@pytest.mark.parametrize(
    "change",
    [
        lambda host: (host.config / "ztcp0.conf").write_text("other"),
        lambda host: (host.config / "ztcp0.conf").write_text(""),
        lambda host: (host.config / "ztcp1.conf").unlink(),
        lambda host: (host.state / "host-manifest.json").write_text("{}"),
        lambda host: (host.state / "host-manifest.json").unlink(),
        lambda host: {"state": "absent"},
        lambda host: {"manifest": False},
        lambda host: {"config_glob": "*.conf"},
        lambda host: {"config_dir": str(host.state)},
        lambda host: {"state_dir": str(host.root / "other")},
        lambda host: {"node": node(3)},
        lambda host: {"eni_pattern": "("},
    ],
)
def test_the_module_runs_where_anything_differs(host, options, change):
    options = options(host)
    host(**options)
    changed = change(host)
    options.update(changed if isinstance(changed, dict) else {})
    assert known(host, **options) is None


@pytest.mark.parametrize(
    "options",
    [{"script": "other.sh", "sha256": "0" * 64}, {"sha256": None}, {"sha256": "x"}, {"minimum_files": 3}, {"script": None},
     {"script_content": "other"}, {"environment": {}}, {"interpreter": ["sh"]}],
)  # fmt: skip
def test_the_module_runs_for_another_script_and_refuses_wrong_options(host, options):
    script = host.script(GOOD)
    host(**script)
    assert known(host, **dict(script, **options)) is None

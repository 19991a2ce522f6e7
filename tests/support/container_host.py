# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host of one running container, for what is observed of containers."""

from ansible_collections.taco.train.plugins.module_utils._observation.root import Root
from ansible_collections.taco.train.plugins.module_utils._process.timed import Output


class ContainerHost(Root):
    """A host whose engine knows one running container."""

    def output(self, *argv):
        text = '{"Id": "1", "Name": "/box", "Config": {"Image": "taco"}, "State": {"Status": "running", "Pid": 77}}'
        return Output(0, text if argv[1] == "container" else "{}", "")

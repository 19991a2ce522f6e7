# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster for a test."""

import contextlib
import pathlib
import tempfile

from kubelab import kubeconfig
from kubelab.cluster import Cluster

TICK = 0.02


@contextlib.contextmanager
def running_cluster(nodes=(), serve=("v1",), operator=True, speed=1.0, **options):
    """Run a cluster while the context lasts. speed is how much faster than 20 ms for a step its controllers go."""
    cluster = Cluster(nodes, serve, operator, TICK / speed, **options)
    with tempfile.TemporaryDirectory(prefix="kubelab-") as folder:
        cluster.start()
        try:
            cluster.kubeconfig = str(pathlib.Path(folder, "kubeconfig"))
            cluster.admin_kubeconfig = str(pathlib.Path(folder, "admin"))
            for path, token in ((cluster.kubeconfig, cluster.token), (cluster.admin_kubeconfig, cluster.admin_token)):
                kubeconfig.write(pathlib.Path(path), cluster.url, cluster.authority.pem, token)
            yield cluster
        finally:
            cluster.stop()
            kubeconfig.forget_discovery(cluster.url)
    assert not cluster.errors, "\n".join(cluster.errors)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is wrong between a client and the TLS of a server is named with its fix."""

import datetime

import pytest
from kubelab import certificates, kubeconfig
from kubelab.testing import running_cluster

from ansible_collections.taco.train.plugins.module_utils.cluster.client import Client, KubernetesError

EXPIRED = datetime.timedelta(hours=-1)


def _wrong_authority(cluster):
    return {"authority": certificates.Authority().pem, "token": cluster.token}


def _wrong_name(cluster):
    return {"url": cluster.url.replace("127.0.0.1", "localhost"), "token": cluster.token}


def _valid(cluster):
    return {"token": cluster.token}


def _expired_client(cluster):
    return {"certificate": cluster.authority.client("taco", EXPIRED)}


def _unknown_token(_cluster):
    return {"token": "another"}


CASES = {
    "authority": (_wrong_authority, {}, "does not trust the authority of the certificate"),
    "name": (_wrong_name, {}, "is for other names"),
    "expired server": (_valid, {"lifetime": EXPIRED}, "renew the certificate of the API server"),
    "expired client": (_expired_client, {}, "renew the user's credentials"),
    "unknown token": (_unknown_token, {}, "renew the user's credentials"),
}


def _written(path, cluster, url=None, authority=None, **user):
    kubeconfig.write(path, url or cluster.url, authority or cluster.authority.pem, **user)
    return str(path)


@pytest.mark.parametrize("name", CASES)
def test_a_connection_that_is_not_trusted_is_named_with_its_fix(name, tmp_path):
    account, options, words = CASES[name]
    with running_cluster(**options) as cluster:
        path = _written(tmp_path / "config", cluster, **account(cluster))
        with pytest.raises(KubernetesError, match=words):
            Client({"kubeconfig": path}).read("Node", "v1")


def test_a_certificate_stands_in_for_a_token_and_need_not_be_checked(tmp_path):
    with running_cluster([{"name": "n1"}]) as cluster:
        path = _written(tmp_path / "config", cluster, certificate=cluster.authority.client("taco"))
        assert [node["metadata"]["name"] for node in Client({"kubeconfig": path}).read("Node", "v1")] == ["n1"]
        path = _written(tmp_path / "other", cluster, **_wrong_authority(cluster))
        assert len(Client({"kubeconfig": path, "validate_certs": False}).read("Node", "v1")) == 1

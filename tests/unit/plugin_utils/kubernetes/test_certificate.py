# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An error about a certificate is named in full, with what fixes it."""

import re

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.errors import trouble
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.messages import sentence


def over_tls(error, port=6443):
    """Return a result of kubernetes.core 6.2 with the words of Python 3.11 and OpenSSL 3.0."""
    pool = f"HTTPSConnectionPool(host='10.0.0.1', port={port}): Max retries exceeded with url: /version"
    return {"failed": True, "msg": f"Task failed: Module failed: {pool} (Caused by SSLError({error}))"}


def verification(said):
    return over_tls(f"SSLCertVerificationError(1, {f'[SSL: CERTIFICATE_VERIFY_FAILED] {said} (_ssl.c:1006)'!r})")


AUTHORITY = [
    "does not trust the authority",
    "certificate-authority-data",
    "ca_cert",
    "validate_certs: false",
    "mpijob_access",
]
CLIENT = ["rejects the certificate of the client", "client-certificate-data"]


@pytest.mark.parametrize(
    ("result", "said", "words"),
    [
        (verification("certificate verify failed: unable to get local issuer certificate"), None, AUTHORITY),
        (verification("certificate verify failed: self-signed certificate"), None, AUTHORITY),
        (verification("certificate verify failed: self-signed certificate in certificate chain"), None, AUTHORITY),
        (
            verification("certificate verify failed: certificate has expired"),
            None,
            ["renew the certificate of the API server at 10.0.0.1:6443"],
        ),
        (
            verification("certificate verify failed: IP address mismatch, certificate is not valid for '10.0.0.1'"),
            None,
            ["for other names", "the cluster's server"],
        ),
        (
            verification("certificate verify failed: Hostname mismatch, certificate is not valid for 'localhost'"),
            None,
            ["for other names", "validate_certs"],
        ),
        (
            over_tls(
                "SSLError(1, '[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert certificate required (_ssl.c:2580)')"
            ),
            "tlsv13 alert certificate required",
            CLIENT,
        ),
        (
            over_tls("SSLError(1, '[SSL: TLSV1_ALERT_UNKNOWN_CA] tlsv1 alert unknown ca (_ssl.c:2580)')"),
            "tlsv1 alert unknown ca",
            CLIENT,
        ),
        (
            over_tls(
                "SSLError(1, '[SSL: SSLV3_ALERT_CERTIFICATE_EXPIRED] sslv3 alert certificate expired (_ssl.c:2580)')"
            ),
            "sslv3 alert certificate expired",
            CLIENT,
        ),
        (
            over_tls("SSLError(1, '[SSL: SSLV3_ALERT_HANDSHAKE_FAILURE] sslv3 alert handshake failure (_ssl.c:1006)')"),
            "sslv3 alert handshake failure",
            CLIENT,
        ),
        (
            over_tls("SSLError(1, '[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)')"),
            "wrong version number",
            ["does not speak the TLS", "https:// or http://"],
        ),
        (
            over_tls("SSLError(136, '[X509: NO_CERTIFICATE_OR_CRL_FOUND] no certificate or crl found (_ssl.c:4154)')"),
            "no certificate or crl found",
            ["hold PEM", "ca_cert"],
        ),
        (
            over_tls("SSLError(116, '[X509: KEY_VALUES_MISMATCH] key values mismatch (_ssl.c:3926)')"),
            "key values mismatch",
            ["the key must fit"],
        ),
        (
            {
                "failed": True,
                "msg": "Task failed: Module failed: [Errno 2] No such file or directory: '/nowhere/ca.pem'",
            },
            "[Errno 2] No such file or directory: '/nowhere/ca.pem'",
            ["the file must exist"],
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else None,
)
def test_a_certificate_is_named_in_full_and_not_taken_for_the_network(result, said, words):
    seen = trouble(result)
    assert seen.kind == "certificate" and not seen.passes
    wanted = said or re.search(r"certificate verify failed: .*?(?= \(_ssl)", result["msg"]).group()
    assert seen.said == wanted
    message = sentence("h", "read Nodes", seen, "/home/me/config")
    for word in [f"({wanted})", *words]:
        assert word in message
    assert "can't be reached" not in message and ("/home/me/config" in message or "clock" in message)

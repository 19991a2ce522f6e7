# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An error about a certificate is named in full, with what fixes it."""

import pytest

from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.errors import trouble
from ansible_collections.taco.train.plugins.plugin_utils.kubernetes.messages import sentence


def over_tls(said, error):
    """What a user must read, and an error of kubernetes.core 6.2 in the words of Python 3.11 and OpenSSL 3.0."""
    pool = "HTTPSConnectionPool(host='10.0.0.1', port=6443): Max retries exceeded with url: /version"
    return said, f"{pool} (Caused by SSLError({error}))"


def verification(why):
    said = f"certificate verify failed: {why}"
    return over_tls(said, f"SSLCertVerificationError(1, {f'[SSL: CERTIFICATE_VERIFY_FAILED] {said} (_ssl.c:1006)'!r})")


def of_library(name, said, part="SSL"):
    return over_tls(said, f"SSLError(1, '[{part}: {name}] {said} (_ssl.c:2580)')")


AUTHORITY = [
    "does not trust the authority",
    "certificate-authority-data",
    "ca_cert",
    "validate_certs: false",
    "mpijob_access",
]
CLIENT = ["rejects the certificate of the client", "client-certificate-data"]


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (verification("unable to get local issuer certificate"), AUTHORITY),
        (verification("self-signed certificate"), AUTHORITY),
        (verification("self-signed certificate in certificate chain"), AUTHORITY),
        (verification("certificate has expired"), ["renew the certificate of the API server at 10.0.0.1:6443"]),
        (
            verification("IP address mismatch, certificate is not valid for '10.0.0.1'"),
            ["for other names", "the cluster's server"],
        ),
        (
            verification("Hostname mismatch, certificate is not valid for 'localhost'"),
            ["for other names", "validate_certs"],
        ),
        (of_library("TLSV13_ALERT_CERTIFICATE_REQUIRED", "tlsv13 alert certificate required"), CLIENT),
        (of_library("TLSV1_ALERT_UNKNOWN_CA", "tlsv1 alert unknown ca"), CLIENT),
        (of_library("SSLV3_ALERT_CERTIFICATE_EXPIRED", "sslv3 alert certificate expired"), CLIENT),
        (of_library("SSLV3_ALERT_HANDSHAKE_FAILURE", "sslv3 alert handshake failure"), CLIENT),
        (
            of_library("WRONG_VERSION_NUMBER", "wrong version number"),
            ["does not speak the TLS", "https:// or http://"],
        ),
        (
            of_library("NO_CERTIFICATE_OR_CRL_FOUND", "no certificate or crl found", "X509"),
            ["hold PEM", "ca_cert"],
        ),
        (of_library("KEY_VALUES_MISMATCH", "key values mismatch", "X509"), ["the key must fit"]),
        (("[Errno 2] No such file or directory: '/nowhere/ca.pem'",) * 2, ["the file must exist"]),
    ],
)
def test_a_certificate_is_named_in_full_and_not_taken_for_the_network(result, words):
    wanted, said = result
    seen = trouble({"failed": True, "msg": f"Task failed: Module failed: {said}"})
    assert seen.kind == "certificate" and not seen.passes
    assert seen.said == wanted
    message = sentence("h", "read Nodes", seen, "/home/me/config")
    for word in [f"({wanted})", *words]:
        assert word in message
    assert "can't be reached" not in message and ("/home/me/config" in message or "clock" in message)

# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How to fix what is wrong with a certificate between a host and the API server. Text in, text out."""

import re
from typing import Optional

ACCESS = "the access options of the role (mpijob_access, kubernetes_node_access or gpu_topology_access)"

_OPENSSL = re.compile(r"\[(?:SSL|X509)[^\]]*\] (?P<said>.*?)\s*\(_\w+\.c", re.DOTALL)


def openssl(text: str) -> Optional[str]:
    """Return what the TLS library reports, without the names of its constants and of its source."""
    found = _OPENSSL.search(text)
    return found["said"].rstrip(". ") if found else None


def _authority(server: str, path: str) -> str:
    return (
        f"this host does not trust the authority of the certificate that {server} presents: set certificate-authority-data of the cluster "
        f"in {path}, or ca_cert in {ACCESS}, to the certificate of that authority; validate_certs: false there accepts any server"
    )


def _name(server: str, path: str) -> str:
    return (
        f"the certificate of {server} is for other names: set the cluster's server in {path} to a name of the certificate, or add this "
        f"one to the certificate; validate_certs: false in {ACCESS} accepts any server"
    )


def _expired(server: str, path: str) -> str:
    return f"renew the certificate of {server} (kubeadm certs renew apiserver), or correct the clock of this host"


def _client(server: str, path: str) -> str:
    return (
        f"{server} rejects the certificate of the client: renew client-certificate-data and client-key-data of the user in {path}, or "
        f"client_cert and client_key in {ACCESS}"
    )


def _no_tls(server: str, path: str) -> str:
    return f"{server} does not speak the TLS that the client expects: correct the cluster's server in {path} (https:// or http://, port)"


def _file(server: str, path: str) -> str:
    return (
        f"correct the certificate or key in {path} (certificate-authority, client-certificate, client-key), or the path in ca_cert, "
        f"client_cert or client_key in {ACCESS}: on this host the file must exist, hold PEM, and the key must fit the certificate"
    )


# The first that fits counts.
_FIXES = (
    (r"alert|[Cc]ertificate required|handshake failure", _client),
    (r"mismatch, certificate|doesn't match|not valid for", _name),
    (r"certificate has expired|not yet valid", _expired),
    (r"certificate verify failed|CertificateError", _authority),
    (r"(?i)wrong version number|http request|record layer|HTTPS server", _no_tls),
)


def fix(said: str, server: str, kubeconfig: Optional[str]) -> str:
    """Return what helps; server is how the API server is called in the sentence."""
    path = f"the kubeconfig (taco_kubeconfig, now {kubeconfig})" if kubeconfig else "the kubeconfig (taco_kubeconfig)"
    return next((make for words, make in _FIXES if re.search(words, said)), _file)(server, path)

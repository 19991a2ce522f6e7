# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The certificates of a cluster: of its authority, of its API server, and of accounts that have one instead of a token."""

import datetime
import ipaddress
import pathlib
import ssl
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

HOUR = datetime.timedelta(hours=1)
LIFETIME = 365 * 24 * HOUR
# OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which Python has no name for.
NO_CHECK_TIME = 0x200000


def _name(common_name):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _alternative(name):
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key_pem(key):
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


class Authority:
    """A certificate authority that exists as long as its cluster."""

    def __init__(self, name="kubernetes"):
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        usage = dict.fromkeys(
            (
                "content_commitment",
                "key_encipherment",
                "data_encipherment",
                "key_agreement",
                "encipher_only",
                "decipher_only",
            ),
            False,
        )
        usage = x509.KeyUsage(digital_signature=True, key_cert_sign=True, crl_sign=True, **usage)
        builder = self._builder(self._name, self._key.public_key(), LIFETIME)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        builder = builder.add_extension(usage, critical=True)
        self.pem = self._signed(builder)

    def _builder(self, subject, public_key, lifetime):
        now = datetime.datetime.now(datetime.timezone.utc)
        end = now + lifetime
        builder = x509.CertificateBuilder(self._name, subject, public_key, x509.random_serial_number())
        builder = builder.not_valid_before(min(now, end) - HOUR).not_valid_after(end)
        identifier = x509.SubjectKeyIdentifier.from_public_key(public_key)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        return builder.add_extension(identifier, critical=False).add_extension(issuer, critical=False)

    def _signed(self, builder):
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()

    def _issue(self, common_name, usage, lifetime, names=()):
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(_name(common_name), key.public_key(), lifetime)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(list(map(_alternative, names))), critical=False)
        return self._signed(builder), _key_pem(key)

    def server(self, names, lifetime):
        """Return the certificate and the key of a server with these names and addresses."""
        return self._issue("kube-apiserver", ExtendedKeyUsageOID.SERVER_AUTH, lifetime, names)

    def client(self, user, lifetime=LIFETIME):
        """Return the certificate and the key of an account; a lifetime below zero is one that is over."""
        return self._issue(user, ExtendedKeyUsageOID.CLIENT_AUTH, lifetime)


def server_context(authority, names, lifetime=LIFETIME):
    """Return the TLS settings of an API server. A client may send a certificate; whether it has expired is seen later.

    So it is in Kubernetes: the handshake takes any certificate, and the request of one that isn't valid gets status 401.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_verify_locations(cadata=authority.pem)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.verify_flags |= NO_CHECK_TIME
    with tempfile.TemporaryDirectory(prefix="kubelab-") as folder:
        paths = [pathlib.Path(folder, name) for name in ("certificate", "key")]
        for path, content in zip(paths, authority.server(names, lifetime)):
            path.touch(0o600)
            path.write_text(content, encoding="utf-8")
        context.load_cert_chain(*paths)
    return context


def user_of(certificate, seconds):
    """Return the account that a client's certificate is of at a time, or None: ssl has checked who signed it."""
    if not certificate or ssl.cert_time_to_seconds(certificate["notAfter"]) < seconds:
        return None
    pairs = [pair for part in certificate["subject"] for pair in part]
    return dict(pairs).get("commonName")

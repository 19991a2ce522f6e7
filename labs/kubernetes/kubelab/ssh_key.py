# Copyright (c) 2026 The taco.train authors
# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The key of a job, which its launcher and its workers share."""

import functools
import threading

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

_MAKING = threading.Lock()


def pair():
    """Return a private and a public key. One for every job of a process: nobody is kept out by it."""
    # Those who ask at the same time would each get a pair of their own from the cache alone.
    with _MAKING:
        return _made()


@functools.lru_cache(maxsize=1)
def _made():
    key = ec.generate_private_key(ec.SECP521R1())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return private.decode(), public.decode() + "\n"

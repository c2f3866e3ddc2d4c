"""Encrypting secrets for the database, with keys derived from SECRET_KEY."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes


def seal(text: str, *, purpose: str) -> str:
    """Encrypt a text with a key derived from SECRET_KEY and the purpose.

    `unseal` needs the same purpose. Decrypting still works after the SECRET_KEY has become one of SECRET_KEY_FALLBACKS.
    """
    return _lock(purpose).encrypt(text.encode()).decode()


def unseal(sealed: str, *, purpose: str) -> str | None:
    """Decrypt a text. Returns None if the text was not encrypted with one of the keys and this purpose."""
    try:
        return _lock(purpose).decrypt(sealed).decode()
    except InvalidToken:
        return None


def _lock(purpose: str) -> MultiFernet:
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([Fernet(_key(secret, purpose)) for secret in secrets])


def _key(secret: str | bytes, purpose: str) -> bytes:
    function = HKDF(SHA256(), length=32, salt=None, info=f"coverdict {purpose}".encode())
    derived = function.derive(force_bytes(secret))
    return base64.urlsafe_b64encode(derived)

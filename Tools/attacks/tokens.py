"""Signed tokens for users and administrators (HS256)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time

SECRET = b"0123456789abcdef0123456789abcdef"


def sign(claims: dict[str, object], seconds: int = 36_000) -> str:
    """Returns a token with these claims that ends in that many seconds."""
    now = int(time.time())
    body = {"iat": now - 10, "exp": now + seconds, **claims}
    head = _text({"alg": "HS256", "typ": "JWT"}) + "." + _text(body)
    mac = hmac.new(SECRET, head.encode(), hashlib.sha256).digest()
    return head + "." + _base64(mac)


def administrator(seconds: int = 36_000) -> str:
    """Returns a token that rules do not bind."""
    return sign({"sub": "root", "tern": "administrator"}, seconds)


def user(name: str) -> str:
    """Returns a token of an ordinary user."""
    return sign({"sub": name})


def _text(value: dict[str, object]) -> str:
    return _base64(json.dumps(value, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

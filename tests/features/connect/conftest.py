"""The service at an https address, with an examiner that reaches it inside of this process."""

from __future__ import annotations

from tests.features.oauth.conftest import app, people, secure_settings, signed_in

__all__ = ["app", "people", "secure_settings", "signed_in"]

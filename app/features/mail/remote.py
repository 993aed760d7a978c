"""The mail server that the operator names (`SMTP_URL`), spoken to from a thread."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from app.settings import Settings

_SECONDS = 20
_PORTS = {"smtp": 587, "smtps": 465}


class Mailer:
    """Sends mails over `smtp://` (with STARTTLS where it is offered, always with a password) or `smtps://`."""

    def __init__(self, url: str, sender: str) -> None:
        parts = urlsplit(url)
        self.configured = bool(url)
        if self.configured and (parts.scheme not in _PORTS or not parts.hostname):
            msg = "SMTP_URL must be smtp://[user:password@]host[:port] or smtps://…"
            raise ValueError(msg)
        self._parts = parts
        self._sender = sender or f"no-reply@{parts.hostname or 'localhost'}"

    @classmethod
    def of(cls, settings: Settings) -> Mailer:
        """Make the mailer of the settings."""
        return cls(settings.smtp_url.get_secret_value(), settings.mail_from)

    async def send(self, recipient: str, subject: str, body: str) -> None:
        """Send one mail.

        Raises:
            OSError, smtplib.SMTPException: the server cannot be reached, or refuses.
        """
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self._sender, recipient, subject
        message["Date"], message["Message-ID"] = formatdate(usegmt=True), make_msgid(domain="context-repo.invalid")
        message.set_content(body)
        await asyncio.to_thread(self._deliver, message)

    def _deliver(self, message: EmailMessage) -> None:
        parts = self._parts
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        context = ssl.create_default_context()
        if parts.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=context)
        else:
            server = smtplib.SMTP(host, port, timeout=_SECONDS)
        with server:
            server.ehlo()
            if parts.scheme == "smtp" and (parts.password or server.has_extn("starttls")):
                server.starttls(context=context)  # a password never travels in the clear
                server.ehlo()
            if parts.username:
                server.login(unquote(parts.username), unquote(parts.password or ""))
            server.send_message(message)

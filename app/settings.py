"""Settings of the service, read from the environment by the composition roots only and passed on as values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

MIB = 1024 * 1024
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Settings(BaseSettings):
    """Everything an operator may set; an empty value is the default, as where nothing is set.

    Without addresses of a database and of Redis the embedded servers of `data_dir` are used.
    """

    model_config = SettingsConfigDict(env_file=None, env_ignore_empty=True, extra="ignore", frozen=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=1, le=65535)
    data_dir: Path = Path(".data")
    public_url: str = ""
    links_url: str = ""
    product_name: str = "Context Repo"
    operator: str = ""
    support_email: str = ""
    issues_url: str = ""
    legal_url: str = ""

    database_url: str = ""
    database_write_url: str = ""
    database_read_url: str = ""
    database_system_url: str = ""
    database_direct_url: str = ""
    redis_url: str = ""
    secret_key: SecretStr = SecretStr("")
    secret_key_old: SecretStr = SecretStr("")

    pool_size: int = Field(default=8, ge=1, le=200)
    plans_file: Path | None = None
    default_plan: str = "self-hosted"
    max_body_bytes: int = Field(default=10 * MIB, ge=1024)
    trusted_proxies: Annotated[list[str], NoDecode] = []
    insecure_http: bool = False
    access_token_seconds: int = Field(default=3600, ge=60, le=86_400)
    refresh_token_seconds: int = Field(default=60 * 86_400, ge=3600)
    auth_issuer: str = ""
    auth_audience: Annotated[list[str], NoDecode] = []
    auth_scopes: Annotated[dict[str, list[str]], NoDecode] = {}
    fetch_allow: Annotated[list[str], NoDecode] = []
    signup: Literal["closed", "invite", "open"] = "closed"
    smtp_url: SecretStr = SecretStr("")
    mail_from: str = ""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    embed_threads: int = Field(default=2, ge=1, le=64)
    embeddings_url: str = ""
    embeddings_model: str = ""
    embeddings_api_key: SecretStr = SecretStr("")
    embeddings_kept_as: str = ""
    embeddings_dimensions: int = Field(default=0, ge=0, le=4_000)
    embeddings_input_type: bool = False
    embeddings_batch: int = Field(default=64, ge=1, le=1_000)
    embeddings_seconds: float = Field(default=30.0, gt=0, le=600)
    embeddings_tries: int = Field(default=3, ge=1, le=10)
    embeddings_calls_per_day: int = Field(default=100_000, ge=1)
    embeddings_previous_url: str = ""
    embeddings_previous_api_key: SecretStr = SecretStr("")
    embeddings_previous_input_type: bool = False
    embeddings_previous_model: str = ""
    embeddings_previous_dimensions: int = Field(default=0, ge=0, le=4_000)
    reason_url: str = ""
    reason_model: str = ""
    reason_api_key: SecretStr = SecretStr("")
    reason_seconds: float = Field(default=60.0, gt=0, le=600)
    reason_tries: int = Field(default=3, ge=1, le=10)
    reason_input_tokens: int = Field(default=6_000, ge=1_000, le=1_000_000)
    reason_output_tokens: int = Field(default=800, ge=50, le=100_000)
    reason_calls_per_day: int = Field(default=1_000, ge=1)
    rerank_url: str = ""
    rerank_model: str = ""
    rerank_api_key: SecretStr = SecretStr("")
    rerank_seconds: float = Field(default=5.0, gt=0, le=60)
    rerank_tries: int = Field(default=1, ge=1, le=10)
    rerank_calls_per_day: int = Field(default=10_000, ge=1)

    @field_validator("trusted_proxies", "auth_audience", "fetch_allow", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("auth_scopes", mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        """Read `openid=documents.write prompts.write,reader=documents.read`."""
        if not isinstance(value, str):
            return value
        found = (part.partition("=") for part in value.split(",") if part.strip())
        return {name.strip(): scopes.split() for name, _, scopes in found}

    @field_validator("links_url")
    @classmethod
    def _check_links(cls, value: str) -> str:
        """Take an origin: a host that serves nothing but public links."""
        bare = value.rstrip("/")
        parts = urlsplit(bare)
        if bare and (parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.path):
            msg = "LINKS_URL must be an origin of its own, like https://links.example.com"
            raise ValueError(msg)
        return bare

    @model_validator(mode="after")
    def _check_issuer(self) -> Settings:
        if not self.auth_issuer:
            return self
        parts = urlsplit(self.auth_issuer)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            msg = "AUTH_ISSUER must be the issuer's address as it stands in its metadata: https://…"
            raise ValueError(msg)
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK and not self.insecure_http:
            msg = "AUTH_ISSUER over plain http beyond this machine needs INSECURE_HTTP=1: its keys could be replaced"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _check_models(self) -> Settings:
        named = {"REASON": (self.reason_url, self.reason_model), "RERANK": (self.rerank_url, self.rerank_model)}
        for name, (url, model) in named.items():
            _check_endpoint(f"{name}_URL", url)
            if url and not model:
                msg = f"{name}_URL needs {name}_MODEL: the name of the model as the endpoint knows it"
                raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _check_embeddings(self) -> Settings:
        _check_endpoint("EMBEDDINGS_URL", self.embeddings_url)
        _check_endpoint("EMBEDDINGS_PREVIOUS_URL", self.embeddings_previous_url)
        if self.embeddings_url and not (self.embeddings_model and self.embeddings_dimensions):
            msg = "EMBEDDINGS_URL needs EMBEDDINGS_MODEL and EMBEDDINGS_DIMENSIONS: the length of that model's vectors"
            raise ValueError(msg)
        named = (bool(self.embeddings_previous_model), bool(self.embeddings_previous_dimensions))
        if any(named) != all(named) or (self.embeddings_previous_url and not all(named)):
            msg = "EMBEDDINGS_PREVIOUS_MODEL and EMBEDDINGS_PREVIOUS_DIMENSIONS belong together"
            raise ValueError(msg)
        if any(named) and not (self.embeddings_previous_url or self.embeddings_url):
            msg = "EMBEDDINGS_PREVIOUS_MODEL needs EMBEDDINGS_PREVIOUS_URL: where that model answers"
            raise ValueError(msg)
        return self

    @property
    def mailed_links(self) -> bool:
        """Whether an invite's link is for the mail's reader alone: it can make an account, and mails are sent."""
        return self.signup != "closed" and bool(self.smtp_url.get_secret_value())

    @property
    def url(self) -> str:
        """Base of every public URL, without a trailing slash; never taken from a Host header."""
        return (self.public_url or f"http://{self.host}:{self.port}").rstrip("/")


def _check_endpoint(name: str, url: str) -> None:
    """Take the base of a model's endpoint, or nothing."""
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query):
        msg = f"{name} must be the base of an endpoint, without what is called there, like https://api.example.com/v1"
        raise ValueError(msg)

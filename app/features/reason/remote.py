"""The language model that the operator names: any endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pydantic_core

from app.store.model_client import ModelClient
from app.store.patience import CallFailed, patiently

if TYPE_CHECKING:
    from app.settings import Settings

_MAX_ANSWER: Final = 40_000
_MAX_BODY: Final = 4 * 1024 * 1024
_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)
_FIELDS: Final = ("max_tokens", "max_completion_tokens")
"""What the length of the answer is called: by nearly everybody, and by OpenAI's newer models."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Where the model is and what one answer may cost: seconds over all tries, tokens in and out, calls a day."""

    url: str
    name: str
    key: str
    seconds: float
    tries: int
    input_tokens: int
    output_tokens: int
    calls_per_day: int


@dataclass(frozen=True, slots=True)
class Said:
    """What a model answered, and whether it was cut off: by the model's own bound, or by ours."""

    text: str
    cut: bool


class Model:
    """Completes one prompt at a time; `terms` is None where no model is configured."""

    def __init__(self, terms: Terms | None) -> None:
        self.terms = terms
        self._client = _client(terms) if terms else None

    @classmethod
    def of(cls, settings: Settings) -> Model:
        """Make the model of the settings."""
        if not settings.reason_url:
            return cls(None)
        terms = Terms(
            url=settings.reason_url,
            name=settings.reason_model,
            key=settings.reason_api_key.get_secret_value(),
            seconds=settings.reason_seconds,
            tries=settings.reason_tries,
            input_tokens=settings.reason_input_tokens,
            output_tokens=settings.reason_output_tokens,
            calls_per_day=settings.reason_calls_per_day,
        )
        return cls(terms)

    async def complete(self, system: str, user: str) -> Said:
        """Give the model's text.

        Raises:
            CallFailed: it is away, too slow, refuses, or answers in no form that is known.
        """
        terms = self.terms
        assert terms is not None
        prompt = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        return await patiently(lambda: self._ask(prompt), tries=terms.tries, seconds=terms.seconds)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def _ask(self, prompt: list[dict[str, str]]) -> Said:
        assert self.terms is not None
        assert self._client is not None
        sent = {"model": self.terms.name, "messages": prompt, "stream": False}
        return _text_of(await self._client.post_either("/chat/completions", sent, _FIELDS, self.terms.output_tokens))


def _client(terms: Terms) -> ModelClient:
    return ModelClient("the language model", terms.url, terms.key, seconds=terms.seconds, most=_MAX_BODY)


def _text_of(body: bytes) -> Said:
    try:
        answer: Any = pydantic_core.from_json(body)
        choice = answer["choices"][0]
        text = choice["message"]["content"]
        cut = choice.get("finish_reason") == "length"
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise CallFailed("its answer has no form that is known") from error
    if not isinstance(text, str) or not (said := _THINKING.sub("", text).strip()):
        raise CallFailed("its answer is empty")
    return Said(said[:_MAX_ANSWER], cut or len(said) > _MAX_ANSWER)

"""JSON Schemas of tools: generated from the argument models, with only what a model needs to fill them in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.kit.schema import MAX_SAFE_INTEGER, FromHeader, RestOnly

if TYPE_CHECKING:
    from app.kit.schema import Model

OUTPUT_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"data": {}, "error": {"type": "object"}}}
"""Nothing required, nothing closed: some clients validate failed results too."""

# Lengths and patterns are left to the validation, whose errors name them.
_KEPT = ("type", "description", "enum", "default", "minimum", "maximum", "items", "anyOf", "required")


def input_schema(model: type[Model]) -> dict[str, Any]:
    """Describe the arguments; fields that travel as headers or over REST only are not arguments."""
    raw = model.model_json_schema(by_alias=True, mode="validation")
    definitions = raw.get("$defs", {})
    hidden = {
        field.alias or name
        for name, field in model.model_fields.items()
        if any(isinstance(mark, FromHeader | RestOnly) for mark in field.metadata)
    }
    properties = {
        name: _slim(part, definitions) for name, part in raw.get("properties", {}).items() if name not in hidden
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required := [name for name in raw.get("required", []) if name not in hidden]:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema


def _slim(part: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if (reference := part.get("$ref")) is not None:
        part = definitions[reference.rsplit("/", 1)[1]] | {key: value for key, value in part.items() if key != "$ref"}
    choices = [choice for choice in part.get("anyOf", []) if choice.get("type") != "null"]
    if len(choices) == 1:
        part = choices[0] | {key: value for key, value in part.items() if key != "anyOf"}
        return _slim(part, definitions)
    slim = {key: part[key] for key in _KEPT if key in part}
    if slim.get("default", "") is None:
        del slim["default"]
    if slim.get("maximum") == MAX_SAFE_INTEGER:
        del slim["maximum"]
    if choices:
        slim["anyOf"] = [_slim(choice, definitions) for choice in choices]
    if "properties" in part:
        slim.pop("description", None)  # of the model, for people who read the code
        slim["properties"] = {name: _slim(inner, definitions) for name, inner in part["properties"].items()}
    if isinstance(slim.get("items"), dict):
        slim["items"] = _slim(slim["items"], definitions)
    return slim

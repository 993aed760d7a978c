"""The API descriptions: committed, served, complete and valid."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from app import features, openapi
from app.edge.discovery.protected_resource import protected_resource
from app.edge.rest.openapi import document
from app.edge.rest.router import OperationRoute
from app.gate.policy import Scope
from app.kit.errors import Kind
from app.settings import Settings
from tests.contract.requirements import proves
from tests.support.faces import rest_faces

FOLDER = Path(__file__).parents[2] / "openapi"
CORE_OPERATIONS = 35


@pytest.mark.parametrize("name", ["v1.json", "full.json", "operations.json"])
def test_the_committed_files_are_current(name):
    committed = (FOLDER / name).read_text(encoding="utf-8")
    assert committed == openapi.files()[name], "run `make openapi` and look at the difference"


@proves("OPENAPI-CORE")
async def test_the_served_document_lists_exactly_the_core_routes(http):
    served = (await http.get("/openapi.json")).json()
    found = {(method.upper(), path) for path, item in served["paths"].items() for method in item}
    core = {(face.rest.method, face.rest.path) for face in rest_faces() if face.rest.core}
    assert found == core
    assert len(core) <= CORE_OPERATIONS


async def test_the_full_document_lists_every_route(http):
    served = (await http.get("/openapi/full.json")).json()
    found = {(method.upper(), path) for path, item in served["paths"].items() for method in item}
    assert found == {(rest.method, rest.path) for rest in features.collect("rest", "ROUTES")}


async def test_the_yaml_twin_says_the_same(http):
    twin = await http.get("/api/openapi.yaml")
    assert twin.headers["content-type"].startswith("application/yaml")
    assert yaml.safe_load(twin.text) == (await http.get("/openapi.json")).json()


@proves("AUTH-PUBLIC")
@pytest.mark.parametrize("path", ["/openapi.json", "/openapi/full.json", "/api/openapi.yaml"])
@proves("OPENAPI-PUBLIC")
async def test_the_documents_are_public_cacheable_and_signal_their_use(http, path):
    answer = await http.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-signal"] == "ai-train=no, search=yes, ai-input=yes"
    assert "public" in answer.headers["cache-control"]
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("name", ["v1.json", "full.json"])
def test_every_schema_and_reference_of_the_document_is_valid(name):
    described = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert described["openapi"].startswith("3.1")
    schemas = described["components"]["schemas"]
    for schema in schemas.values():
        jsonschema_rs.meta.validate(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"})
    for reference in references(described):
        assert reference.removeprefix("#/components/schemas/") in schemas


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from references(item)


@pytest.mark.parametrize("name", ["v1.json", "full.json"])
def test_every_operation_is_described_with_its_scopes_errors_and_a_unique_id(name):
    described = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    operations = [operation for item in described["paths"].values() for operation in item.values()]
    ids = [operation["operationId"] for operation in operations]
    assert len(ids) == len(set(ids))
    for operation in operations:
        assert operation["summary"]
        assert operation["description"]
        assert operation["security"]
        assert {"400", "401", "403", "429", "503"} <= operation["responses"].keys()
        assert not any("HTTPValidationError" in reference for reference in references(operation))


@pytest.mark.parametrize("name", ["v1.json", "full.json"])
@proves("ME-35-PLAN")
def test_402_is_described_where_a_plan_decides_and_nowhere_else(name):
    described = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    policies = {face.label: face.operation for face in rest_faces()}
    for path, item in described["paths"].items():
        for method, operation in item.items():
            policy = policies[f"{method.upper()} {path}"]
            decides = not policy.plan_exempt or policy.feature is not None or bool(policy.spends)
            raised = any(error.kind is Kind.PAYMENT_REQUIRED for error in policy.raises)
            assert ("402" in operation["responses"]) is (decides or raised), path
    assert "402" not in described["paths"]["/v1/user/me"]["get"]["responses"]


@proves("OAUTH-OPENAPI")
async def test_the_description_leads_to_the_authorization_server(http):
    described = (await http.get("/openapi.json")).json()
    scheme = described["components"]["securitySchemes"]["oauth"]
    metadata = (await http.get("/.well-known/oauth-authorization-server")).json()
    flow = scheme["flows"]["authorizationCode"]
    assert scheme["type"] == "oauth2"
    assert flow["authorizationUrl"] == metadata["authorization_endpoint"]
    assert flow["tokenUrl"] == flow["refreshUrl"] == metadata["token_endpoint"]
    assert flow["scopes"].keys() == set(Scope)
    for item in described["paths"].values():
        for operation in item.values():
            ways = [way["oauth"] for way in operation["security"] if "oauth" in way]
            assert ways == ([[scope] for scope in operation["x-scopes"]] or [[]])


@proves("OAUTH-OPENAPI")
def test_with_another_issuer_the_description_leads_there():
    settings = Settings.model_construct(public_url="https://a.example", auth_issuer="https://id.example/realm/")
    faces = features.collect("rest", "ROUTES")
    resource = protected_resource(settings, "/v1")
    routes = [OperationRoute(face, resource=resource, body_limit=1) for face in faces]
    scheme = document(settings, routes, core_only=True)["components"]["securitySchemes"]["oauth"]
    assert scheme["type"] == "openIdConnect"
    assert scheme["openIdConnectUrl"] == "https://id.example/realm/.well-known/openid-configuration"


def test_every_path_parameter_is_described():
    described = json.loads((FOLDER / "full.json").read_text(encoding="utf-8"))
    for path, item in described["paths"].items():
        for operation in item.values():
            named = {p["name"] for p in operation.get("parameters", ()) if p["in"] == "path"}
            assert named == set(re.findall(r"{(\w+)}", path))


def test_preconditions_are_described_with_their_refusals():
    described = json.loads((FOLDER / "full.json").read_text(encoding="utf-8"))
    operations = [operation for item in described["paths"].values() for operation in item.values()]
    for operation in operations:
        headers = {p["name"] for p in operation.get("parameters", ()) if p["in"] == "header"}
        assert ("If-Match" in headers) is ("412" in operation["responses"])
        assert ("If-None-Match" in headers) is ("304" in operation["responses"])
    assert "If-None-Match" in {p["name"] for p in described["paths"]["/v1/documents/{documentId}"]["get"]["parameters"]}

"""Laws that a linter does not know."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest
from starlette.routing import Route

from app import features
from app.edge.discovery import site
from app.edge.rest.router import OperationRoute
from app.edge.web.routes import NOWHERE
from app.features.documents.schemas import Document
from app.gate.inventory import Inventory
from app.gate.policy import Meter
from app.kit.errors import AppError
from app.kit.schema import One
from tests.support.faces import FACES

APP = Path(__file__).parents[2] / "app"
OPEN_MODULES = {"service", "schemas", "errors"}
"""What one feature may use of another."""

SQL = re.compile(
    r"\s*(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|WITH \w+ AS|CREATE |ALTER |DROP |GRANT )", re.ASCII
)
SQL_ELSEWHERE = {
    "store/bootstrap.py": "roles and extensions, set up once by a superuser",
    "store/base.py": "the policies that every tenant table has",
    "store/tx.py": "begins and ends transactions",
    "store/migrating.py": "asks which migrations have run",
    "store/blobs.py": "keeps bytes for whichever feature refers to them",
    "store/jobs.py": "extends the queue's own statement",
    "supervisor.py": "asks once, at the start, whether a first user has to be made",
}
"""Files with SQL that are not called `queries.py`, each with its reason."""


def modules():
    for path in sorted(APP.rglob("*.py")):
        yield path.relative_to(APP).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_a_feature_uses_only_service_schemas_and_errors_of_another():
    wrong = set()
    for path, tree in modules():
        if not path.startswith("features/") or path.count("/") < 2:
            continue
        own = path.split("/")[1]
        for name in imported(tree):
            parts = name.split(".")
            if path.endswith(PAGES) and parts[3:4] == ["operations"]:
                continue
            if parts[:2] == ["app", "features"] and len(parts) > 3 and parts[2] != own and parts[3] not in OPEN_MODULES:
                wrong.add((path, name))
    assert wrong == set()


PAGES = ("/pages.py", "/panels.py", "/editing.py", "/history.py")
"""What makes pages: it may run operations of other features."""


def docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield id(first.value)


def test_sql_stands_in_queries_only():
    wrong = []
    for path, tree in modules():
        if path.endswith("queries.py") or path in SQL_ELSEWHERE:
            continue
        documentation = set(docstrings(tree))
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
            if is_text and SQL.match(node.value):
                wrong.append((path, node.lineno, node.value[:40]))
    assert wrong == []


def test_the_exceptions_for_sql_still_exist():
    assert [path for path in SQL_ELSEWHERE if not (APP / path).exists()] == []


async def test_every_route_is_an_operation_or_says_what_else_it_is(service):
    raw = {entry.path for entry in features.collect("http", "ROUTES")}
    raw |= {page.path for page in features.collect("pages", "PAGES")}
    raw |= {item.path for item in (*site.PUBLISHED, *site.SURFACES, *site.PAGES)}
    others = ("/static/", "/openapi", "/api/openapi.yaml", "/mcp", "/grok-mcp", "/.well-known/")
    raw.add(NOWHERE.path)
    bare = [
        route.path
        for route in service.routes
        if isinstance(route, Route)
        and not isinstance(route, OperationRoute)
        and route.path not in raw
        and not route.path.startswith(others)
    ]
    assert bare == []


def test_every_raw_route_gives_its_reason_and_its_rate():
    for entry in [*features.collect("http", "ROUTES"), *features.collect("pages", "PAGES")]:
        assert len(entry.why) > 10, entry.path
        assert entry.rate, entry.path


def test_every_face_belongs_to_one_operation_of_its_name():
    names = Inventory.of(face.operation for face in FACES).operations
    for name, operation in names.items():
        assert re.fullmatch(r"[a-z]+\.[a-z_]+", name)
        assert operation.summary
        assert operation.description
        assert all(issubclass(error, AppError) for error in operation.raises)


READERS_MAY = {
    "exports.start": "it copies what the caller may read, and changes nothing of it",
    "packs.make": "it notes what the caller may read under its hash, and changes nothing of it",
}
"""Commands for which reading scopes are enough, each with its reason."""


def test_every_writing_operation_needs_a_writing_scope():
    for face in FACES:
        if face.operation.writes and face.operation.scopes and face.operation.name not in READERS_MAY:
            assert all(scope.endswith(".write") for scope in face.operation.scopes), face.label


def test_whatever_makes_a_document_is_counted():
    """However a document comes to be, a plan's allowance of documents and of room holds."""
    makers = [face.operation for face in FACES if face.operation.writes and face.operation.result is One[Document]]
    assert {operation.name for operation in makers} >= {"documents.create", "documents.scrape", "documents.upload"}
    for operation in makers:
        assert {Meter.DOCUMENTS, Meter.STORAGE_BYTES} <= set(operation.spends), operation.name


def test_no_operation_opens_a_transaction_past_its_context():
    """The context alone knows what of the workspace the caller may see."""
    pattern = re.compile(r"ctx\.database\.(tx|snapshot|single|hot)\b")
    wrong = [path.name for path in APP.rglob("*.py") if pattern.search(path.read_text(encoding="utf-8"))]
    assert wrong == []


def test_only_effects_reach_outside_and_they_do_it_before_their_transaction():
    """What fetches, runs a reader or hashes a password is asked for in a `prepare` alone: it has no transaction."""
    reaching = {"Pages", "Converter", "Passwords"}
    prepared = {face.operation.prepare for face in FACES if face.operation.kind == "effect"}
    assert prepared
    for face in FACES:
        operation = face.operation
        assert (operation.prepare is not None) == (operation.kind == "effect"), face.label
        assert not any(f"ctx.get({name})" in inspect.getsource(operation.function) for name in reaching), face.label
    for prepare in prepared:
        source = inspect.getsource(prepare)
        assert not re.search(r"ctx\.(tx|emit|enqueue)\b", source), prepare.__qualname__
        embeds = "gather(ctx, " in source  # the query's vector may come from outside
        assert embeds or any(f"ctx.get({name})" in source for name in reaching), prepare.__qualname__


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("rest", "ROUTES"),
        ("http", "ROUTES"),
        ("tools", "TOOLS"),
        ("resources", "TEMPLATES"),
        ("pages", "PAGES"),
        ("panels", "PANELS"),
        ("jobs", "JOBS"),
        ("jobs", "SWEEPS"),
        ("trash", "BINS"),
        ("trash", "ERASERS"),
    ],
)
def test_every_feature_offers_what_its_file_is_for(module, name):
    assert list(features.collect(module, name))

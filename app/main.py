"""The web composition root: settings → stores → gate → edges → FastAPI. No logic."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.routing import Route

from app import features
from app.edge import errors, fallback
from app.edge.discovery import site
from app.edge.discovery.facts import Facts
from app.edge.discovery.protected_resource import protected_resource
from app.edge.mcp.guard import Guard
from app.edge.mcp.routes import RESOURCES, REST, endpoints, mcp_routes, surfaces
from app.edge.middleware import Envelope
from app.edge.rest.openapi import openapi_routes
from app.edge.rest.router import OperationRoute, OperationsFirst, yield_to_narrower
from app.edge.shared_host import SharedHost
from app.edge.web.routes import page_routes
from app.edge.web.web import Web, templates_folder
from app.features.accounts.service import Principals
from app.features.connect.remote import Examiner
from app.features.handbook import server as handbook
from app.features.handbook.book import Book
from app.features.health.service import Readiness
from app.features.imports import remote as imports
from app.features.imports.remote import Archives
from app.features.indexing.endpoint import embedders_of
from app.features.indexing.remote import Embedder, MiniLM
from app.features.indexing.serving import Embedders
from app.features.issuer.credentials import IssuerTokens, Trust
from app.features.issuer.remote import Issuer
from app.features.keys import service as keys
from app.features.keys.credentials import ApiKeys
from app.features.links import service as links
from app.features.links.service import LinkAddresses, Links
from app.features.navigation.remote import Sessions
from app.features.oauth import service as oauth
from app.features.oauth.credentials import AccessTokens
from app.features.oauth.provider.documents import Documents
from app.features.oauth.provider.oauth import OAuth
from app.features.oauth.provider.server import Terms
from app.features.oauth.targets import Targets
from app.features.plans.service import Usage
from app.features.reason.kept import KeptAnswers
from app.features.reason.remote import Model
from app.features.scrape.remote import Pages
from app.features.search.remote import Reranker
from app.features.signin import service as signin
from app.features.signin.credentials import BrowserSessions
from app.features.signin.service import SignIn
from app.features.workspaces.service import Inviting
from app.gate.capabilities import Capabilities
from app.gate.gate import SESSION, Gate
from app.gate.inventory import Inventory
from app.gate.limiter import Limiter
from app.gate.marks import Marks
from app.gate.passwords import Passwords
from app.gate.policy import Plans, Vocabulary
from app.gate.ports import Cached, Revocations, Wording
from app.gate.principal import CredentialKind
from app.gate.prose import Prose
from app.gate.quota import Meters
from app.gate.site import Site
from app.store import engine, migrating, postgres, redis
from app.store.confined import Confined
from app.store.fetcher import Fetcher, allowing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from redis.asyncio import Redis
    from starlette.types import ASGIApp

    from app.edge.mcp.surface import Surface
    from app.edge.mcp.tool import Tool
    from app.gate.ports import CredentialResolver
    from app.settings import Settings
    from app.store.postgres import Database


class Service(FastAPI):
    """FastAPI with the envelope around everything, and the operations before the framework's own layers."""

    https = False
    links_url = ""

    def build_middleware_stack(self) -> ASGIApp:
        """Put the layers together when the first request comes."""
        operations = [route for route in self.router.routes if isinstance(route, OperationRoute)]
        apps = ((route.path, route.app) for route in self.router.routes if isinstance(route, Route))
        surfaces = {path: app for path, app in apps if isinstance(app, Guard)}
        stack: ASGIApp = OperationsFirst(operations, surfaces, super().build_middleware_stack())
        if self.links_url:
            stack = SharedHost(stack, self.links_url)
        return Envelope(stack, https=self.https)


def create_app(settings: Settings) -> FastAPI:
    """Build the service of one process; its stores open when it starts and close when it stops."""
    app = Service(
        title=settings.product_name,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # Most requests never reach the framework's layers: its spans would tell half, and asking costs each request.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        lifespan=lambda app: _lifespan(app, settings),
    )
    app.https = settings.url.startswith("https://")
    app.links_url = settings.links_url
    routes = [
        OperationRoute(
            face,
            resource=protected_resource(settings, REST),
            body_limit=settings.max_body_bytes,
        )
        for face in features.collect("rest", "ROUTES")
    ]
    yield_to_narrower(routes)
    Inventory.of(route.face.operation for route in routes)
    raw = [Route(raw.path, raw.endpoint, methods=list(raw.methods)) for raw in features.collect("http", "ROUTES")]
    tools, templates = list(features.collect("tools", "TOOLS")), features.collect("resources", "TEMPLATES")
    prompts = next(features.collect("native", "PROMPTS"), None)
    pages = page_routes(features.collect("pages", "PAGES"))
    folders = [templates_folder(), *features.folders("templates")]
    panels = features.collect("panels", "PANELS")
    app.state.web = Web(settings, settings.secret_key.get_secret_value(), folders, panels)
    app.state.plans = Plans.load(settings.plans_file)
    found, app.state.capabilities = surfaces(settings, routes, tools, templates, prompts, app.state.plans)
    app.state.mcp = endpoints(settings, found)
    described = _described(app, settings, routes, tools, found)
    app.router.routes.extend([*routes, *described, *raw, *pages])
    fallback.install(app)
    return app


def _described(
    app: FastAPI,
    settings: Settings,
    routes: Sequence[OperationRoute],
    tools: Sequence[Tool],
    found: Sequence[Surface],
) -> list[Route]:
    """Serve the surfaces of MCP and whatever describes the service; all of it comes from the same facts."""
    app.state.facts = Facts.of(
        settings,
        [route.face for route in routes],
        tools,
        found,
        app.state.capabilities,
        app.state.plans,
        features.collect("guides", "GUIDES"),
    )
    app.state.book = Book(app.state.facts)
    made = [*mcp_routes(settings, app.state.mcp), *openapi_routes(settings, routes), *site.routes(app.state.facts)]
    endpoint, route = handbook.mount(settings, app.state.book)
    app.state.mcp.append(endpoint)
    return [*made, route]


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI, settings: Settings) -> AsyncIterator[None]:
    client = redis.connect(settings.redis_url) if settings.redis_url else None
    plans: Plans = app.state.plans
    async with contextlib.AsyncExitStack() as stack:
        database = await stack.enter_async_context(postgres.connected(settings))
        if client is not None:
            stack.push_async_callback(client.aclose)
        principals = Principals(plans, settings.default_plan)
        limiter = Limiter(client)
        stack.push_async_callback(limiter.aclose)
        passwords = Passwords()
        stack.callback(passwords.close)
        tokens, issuing = await _tokens(settings, database, principals, stack)
        resolvers = {
            "api-key": Cached(ApiKeys(database, principals)),
            "bearer": Cached(tokens),
            SESSION: Cached(BrowserSessions(database, principals)),
        }
        revocations = Revocations(resolvers.values())
        usage = Usage(database)
        marks = _marks(database)
        await stack.enter_async_context(marks.flushing())
        app.state.gate = Gate(
            database=database,
            limiter=limiter,
            plans=plans,
            resolvers=resolvers,
            services={
                Usage: usage,
                Meters: usage,
                Capabilities: app.state.capabilities,
                Revocations: revocations,
                Limiter: limiter,
            }
            | issuing
            | _embedding(settings, limiter, stack)
            | _reading(settings, client, stack)
            | _writing(settings)
            | _telling(settings)
            | _opening(settings, database, passwords, revocations, marks),
            secret_key=settings.secret_key.get_secret_value(),
            secret_key_old=settings.secret_key_old.get_secret_value(),
            marks=marks,
        )
        app.state.readiness = Readiness(database, client, migrating.newest_revision())
        for endpoint in app.state.mcp:
            await stack.enter_async_context(endpoint.running())
        yield


def _writing(settings: Settings) -> dict[type, Any]:
    """Build what makes documents of pages and archives."""
    archives = Archives(Confined(limits=imports.LIMITS))
    pages = Pages(Fetcher(allow=allowing(settings.fetch_allow)), Confined())
    return {Pages: pages, Archives: archives}


def _opening(
    settings: Settings, database: Database, passwords: Passwords, revocations: Revocations, marks: Marks
) -> dict[type, Any]:
    """Build what lets people in who are not known yet (signing in, and public links), and what shows them texts."""
    url = settings.links_url or settings.url
    secrets = (settings.secret_key.get_secret_value(), settings.secret_key_old.get_secret_value())
    prose = Prose((settings.url, url))
    return {
        Passwords: passwords,
        SignIn: SignIn(database, passwords, revocations, settings.signup),
        LinkAddresses: LinkAddresses(url, *secrets),
        Links: Links(database, passwords, prose, marks),
        Prose: prose,
    }


def _telling(settings: Settings) -> dict[type, Any]:
    """Build what knows where this service is, and how it words its refusals."""
    site = Site(settings.url, settings.product_name, settings.mailed_links)
    inviting = Inviting(settings.signup, bool(settings.smtp_url.get_secret_value()))
    return {Examiner: Examiner(settings.url), Site: site, Inviting: inviting, Wording: Wording(errors.error_object)}


def _embedding(settings: Settings, limiter: Limiter, stack: contextlib.AsyncExitStack) -> dict[type, Any]:
    """Build the models that searches ask; sentences of an answer are compared by the local one."""
    local = MiniLM(1)
    embedders = embedders_of(settings, local, limiter)
    stack.push_async_callback(embedders.close)
    reranker = Reranker.of(settings, limiter)
    stack.push_async_callback(reranker.aclose)
    return {Embedder: local, Embedders: embedders, Reranker: reranker}


def _reading(settings: Settings, client: Redis | None, stack: contextlib.AsyncExitStack) -> dict[type, Any]:
    """Build what reading passages and answering from them need."""
    sessions, model, answers = Sessions(client), Model.of(settings), KeptAnswers(client)
    for service in (sessions, model, answers):
        stack.push_async_callback(service.aclose)
    return {Sessions: sessions, Model: model, KeptAnswers: answers}


def _marks(database: Database) -> Marks:
    return Marks(
        {
            CredentialKind.API_KEY: functools.partial(keys.mark_used, database),
            CredentialKind.OAUTH: functools.partial(oauth.mark_used, database),
            CredentialKind.SESSION: functools.partial(signin.mark_seen, database),
        },
        {
            links.VIEWS: functools.partial(links.add_views, database),
            links.COPIES: functools.partial(links.add_copies, database),
        },
    )


async def _tokens(
    settings: Settings, database: Database, principals: Principals, stack: contextlib.AsyncExitStack
) -> tuple[CredentialResolver, dict[type, Any]]:
    """Build what resolves tokens, with the server that issues them unless the settings name another one."""
    if not settings.auth_issuer:
        server = await _authorization_server(settings, database, stack)
        return AccessTokens(database, principals), {OAuth: server}
    issuer = Issuer(settings.auth_issuer, Fetcher())
    stack.push_async_callback(issuer.aclose)
    trust = Trust(frozenset(settings.auth_audience), Vocabulary.of(settings.auth_scopes), settings.signup)
    return IssuerTokens(database, principals, issuer, trust), {}


async def _authorization_server(settings: Settings, database: Database, stack: contextlib.AsyncExitStack) -> OAuth:
    pool = await stack.enter_async_context(engine.opened(settings))
    terms = Terms(
        issuer=settings.url,
        targets=Targets(settings.url, RESOURCES),
        access_seconds=settings.access_token_seconds,
        refresh_seconds=settings.refresh_token_seconds,
    )
    return OAuth(terms, pool, database, Documents(database, Fetcher()))

"""The web app: the page's files and the API, behind guards."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from .api import routes
from .guards import GUARDS, Guard, Guarded
from .labelling import Labelling
from .people import ENTER, People
from .static import files


def make_app(
    work: Labelling, people: People, port: int, guards: Sequence[Guard] = GUARDS
) -> ASGIApp:
    """The app for these people at this port. `guards`: replaced only in tests."""
    fixed = files()

    async def enter(request: Request) -> Response:
        """Exchange a link for a cookie; the remaining address has no token."""
        person = people.of_token(request.query_params.get("token", ""))
        if person is None:
            return PlainTextResponse(_STALE, 403)
        cookie = {"set-cookie": people.set_cookie(person), "location": "/"}
        return Response(status_code=303, headers=cookie)

    async def file(request: Request) -> Response:
        asset = fixed[request.url.path]
        return Response(asset.body, media_type=asset.media_type)

    addresses = [Route(path, file) for path in fixed]
    app = Starlette(routes=[Route(ENTER, enter), *addresses, *routes(work)])
    app.router.redirect_slashes = False
    return Guarded(app, people, port, guards)


_STALE = "This server does not know this link. Open the link that it printed when it was started.\n"

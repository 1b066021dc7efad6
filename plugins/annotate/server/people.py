"""Who may use the server: a link each, exchanged for a cookie."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from hmac import compare_digest

ENTER = "/enter"  # where a link leads
COORDINATOR = "(coordinator)"  # no annotator's name has such characters


def _secret() -> str:
    return secrets.token_urlsafe(32)  # 256 bits


@dataclass(frozen=True)
class Person:
    """Somebody with a link. The link has the `token`, the cookie has the `session`.

    They differ because a browser also sends a cookie to servers on other ports; these must not
    learn the link. All cookies end with the server.
    """

    id: str
    token: str = field(default_factory=_secret, repr=False)
    session: str = field(default_factory=_secret, repr=False)

    @property
    def is_coordinator(self) -> bool:
        """Whether this is the coordinator, who sees the progress and labels nothing."""
        return self.id == COORDINATOR


class People:
    """The annotators and the coordinator. Cookies of servers on other ports have other names."""

    def __init__(self, annotators: Sequence[str], port: int) -> None:
        self.all = [Person(name) for name in (*annotators, COORDINATOR)]
        self.cookie = f"judge-{port}"

    def of_token(self, token: str) -> Person | None:
        """The person whose link has the token."""
        return next((one for one in self.all if _is_same(one.token, token)), None)

    def of_cookies(self, headers: Sequence[str]) -> Person | None:
        """The person whose cookie is in these headers; None if there are several of our cookies."""
        pairs = [part.strip().partition("=") for header in headers for part in header.split(";")]
        values = [value for name, _, value in pairs if name == self.cookie]
        if len(values) != 1:
            return None
        return next((one for one in self.all if _is_same(one.session, values[0])), None)

    def set_cookie(self, person: Person) -> str:
        """The header that sets a person's cookie; scripts cannot read it."""
        return f"{self.cookie}={person.session}; Path=/; HttpOnly; SameSite=Strict"


def _is_same(ours: str, theirs: str) -> bool:
    return compare_digest(ours.encode(), theirs.encode("utf-8", "surrogateescape"))

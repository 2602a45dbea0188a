"""The situations, one module for each part of the protocol. Importing a module registers what is in it."""

from . import resolve, versions, change, overwrite, listing, authenticate, sessions, transport, malformed  # noqa: F401

"""The situations, one module for each part of the protocol. Importing a module registers what is in it."""

from . import resolve, versions, change, overwrite, listing, unstored  # noqa: F401
from . import replication_copy, replication_follow  # noqa: F401
from . import authenticate, sessions, transport, malformed  # noqa: F401

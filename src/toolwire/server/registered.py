"""Everything this gateway executes: the one catalogue, put together when it starts (document 3, sections 2 and 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire.server.catalogue import Catalogue
from toolwire.server.flash.tools import entries as flash_entries
from toolwire.server.workspace_tools import workspace_entries

if TYPE_CHECKING:
    from toolwire.server.hub import Hub


def catalogue_of(hub: Hub) -> Catalogue:
    return Catalogue([*workspace_entries(hub.tools.registry), *flash_entries(hub.settings)])

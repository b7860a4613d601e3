"""Services of the catalogue for agents: what an agent may call depends on who asked for its turn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from toolwire.core.events import CallRequested, TurnAsked
from toolwire.errors import FlashError, ToolwireError
from toolwire.server.asked import DEFAULT_APP
from toolwire.server.catalogue import CallContext, Entry
from toolwire.server.logs import log
from toolwire.server.roles import at_least, role_of
from toolwire.server.security import Caller
from toolwire.server.toolroom import WRITE_PATIENCE, Done

if TYPE_CHECKING:
    from toolwire.server.live import LiveSession


async def serve(live: LiveSession, call: CallRequested, entry: Entry, asked: TurnAsked | None) -> Done:
    """Run a service for the agent of a turn. A refusal is an outcome, in words."""
    assert entry.run is not None
    hub = live.hub
    role = role_of(asked.role if asked is not None else None)
    if not at_least(role, entry.role):
        return Done(error=f"PERMISSION_DENIED: {entry.tool_id} needs the role {entry.role}, this turn has {role}")
    context = CallContext(
        hub=hub,
        caller=Caller(asked.caller if asked is not None else "", live.record.tenant, role),
        app_id=DEFAULT_APP,
        session_id=live.record.name,
        trace_id=call.trace or call.call_id,
        call_id=call.call_id,
        mode=asked.mode if asked is not None else "",
    )
    limit = entry.timeout or hub.settings.call_timeout
    try:
        hub.calls.check_arguments(entry.tool_id, call.arguments)
        async with asyncio.timeout(limit if entry.reads else limit * WRITE_PATIENCE):
            result = await entry.run(context, call.arguments)
    except FlashError as error:
        return Done(error=f"{error.code}: {error.message}")
    except TimeoutError:
        return Done(error=f"{entry.tool_id} took longer than {limit:g} s", lost=not entry.reads)
    except ToolwireError as error:
        return Done(error=error.message)
    except Exception:
        log.exception("a service tool failed unexpectedly", tool=entry.tool_id, call_id=call.call_id)
        return Done(error=f"{entry.tool_id} failed unexpectedly; the gateway's log has the details")
    return Done(ok=True, result=result.data)

"""The command line: `toolwire COMMAND …`, one module a command.

This file only finds the command. It imports nothing heavy, so that `toolwire --help` is as quick as Python itself; a
command's own module, and typer and rich with it, is imported when that command is run.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire.errors import ToolwireError

COMMANDS: dict[str, str] = {
    "up": "Gateway, project and web page on this machine, in one go. Start here.",
    "serve": "The gateway alone, with everything to configure.",
    "ide": "A headless IDE: connects to a gateway and runs the tools it is asked for.",
    "chat": "Talk to the agent in the terminal.",
    "tools": "The tools there are, with their arguments.",
    "call": "Run one tool here, now.",
    "sessions": "What happened: list sessions, show one, export one as a script.",
    "replay": "Play a session again in the terminal.",
    "audit": "Prove what happened: verify, tell a trace, export.",
    "service": "Editing tools on stdin and stdout, a JSON line each way.",
    "undo": "Take back a write, by its call id.",
    "token": "Make, list and revoke the tokens that callers bring.",
}
"""Command → what the list says of it. The module of the same name has an `app`."""

HELP = """\
Toolwire connects coding agents to IDEs.

Usage: toolwire COMMAND [OPTIONS]

Commands:
{commands}

Try:
  toolwire up .                      then open http://127.0.0.1:8080
  toolwire chat -m "where are ZIP files read?"
  toolwire call grep_file pattern=TODO

`toolwire COMMAND --help` explains a command, with examples.
Options: -h, --help   --version
"""

USAGE_ERROR = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; gives the exit code, 0 only on success."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    if not words or words[0] in ("-h", "--help"):
        _print(HELP.format(commands="\n".join(f"  {name:<10} {text}" for name, text in COMMANDS.items())))
        return 0 if words else USAGE_ERROR
    if words[0] == "--version":
        from toolwire import __version__

        _print(f"toolwire {__version__}\n")
        return 0
    if words[0] not in COMMANDS:
        return _unknown(words[0])
    return _run(words[0], words[1:])


def _run(command: str, words: list[str]) -> int:
    import importlib

    from toolwire.errors import ToolwireError

    module = importlib.import_module(f"toolwire.cli.{command}")
    try:
        module.app(args=words, prog_name=f"toolwire {command}")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except ToolwireError as error:
        return _refused(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone (`toolwire … | head`). Nothing is wrong, but not all of it was written.
        sys.stdout = None
        return 1
    except Exception as error:
        return _defect(error)
    return 0


def _refused(error: ToolwireError) -> int:
    from toolwire.errors import ConfigError, ToolError

    text = error.message
    if isinstance(error, ToolError):
        from toolwire.tools.texts import sentence

        text = sentence(error, "en")
    elif error.hint:
        text += f"\n  {error.hint}"
    sys.stderr.write(f"toolwire: {text}\n")
    return USAGE_ERROR if isinstance(error, ConfigError) else 1


def _defect(error: Exception) -> int:
    """Our own mistake. A traceback helps only those who ask for it."""
    import os

    if os.environ.get("TOOLWIRE_TRACEBACK"):
        raise error
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    sys.stderr.write(f"toolwire: this should not have happened: {what}\n  TOOLWIRE_TRACEBACK=1 shows where it did\n")
    return 1


def _unknown(word: str) -> int:
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, n=1)
    hint = f"did you mean `toolwire {near[0]}`?" if near else "`toolwire --help` lists the commands"
    sys.stderr.write(f"toolwire: no such command: {word}\n  {hint}\n")
    return USAGE_ERROR


def _print(text: str) -> None:
    sys.stdout.write(text)

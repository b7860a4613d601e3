"""npm's `diff` package as an oracle nobody here wrote: one node process answers a whole batch of cases."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from oracles import npm
from toolwire.tools.patch import Hunk

_SCRIPT = """
const diff = require(process.argv[1]);
const cases = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const answers = cases.map(({old, hunks, ownTo}) => {
  const patch = {oldFileName: 'f', newFileName: 'f', oldHeader: '', newHeader: '', hunks};
  const applied = diff.applyPatch(old, patch, {fuzzFactor: 0, autoConvertLineEndings: false});
  const own = ownTo === null ? null : diff.structuredPatch('f', 'f', old, ownTo, '', '', {context: 3}).hunks;
  return {applied, own};
});
process.stdout.write(JSON.stringify(answers));
"""


@dataclass(frozen=True, slots=True)
class Answer:
    applied: str | None
    """What applyPatch made of the old text and our hunks; None if it refused them."""
    own: list[Hunk] | None
    """The package's own hunks, where they were asked for."""


def ask(cases: Sequence[tuple[str, Sequence[Hunk], str | None]]) -> list[Answer]:
    """For each (old text, our hunks, new text if its own hunks are wanted)."""
    question = [
        {"old": old, "hunks": [hunk.model_dump(by_alias=True) for hunk in hunks], "ownTo": own_to}
        for old, hunks, own_to in cases
    ]
    done = subprocess.run(
        ["node", "-e", _SCRIPT, str(npm.installed("diff", "9"))],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    return [
        Answer(
            applied=None if answer["applied"] is False else answer["applied"],
            own=None if answer["own"] is None else [Hunk(**hunk) for hunk in answer["own"]],
        )
        for answer in json.loads(done.stdout)
    ]

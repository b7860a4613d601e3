"""Generated tests: the same examples for everybody, and never a time limit on one of them.

`HYPOTHESIS_PROFILE=explore make test` looks for examples nobody has seen yet.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

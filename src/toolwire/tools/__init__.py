"""The tools: one tool one module, and the workspace they work in."""

"""The dialects: wire ⇄ core, one document one module. Pure."""

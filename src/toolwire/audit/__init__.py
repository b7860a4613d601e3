"""The audit: prove that the record is whole, tell a trace as a story, export it. docs/audit.md has the scheme."""

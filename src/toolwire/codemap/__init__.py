"""Symbols and the call graph of a workspace: who defines what, who calls whom, and how sure that is."""

"""Toolwire connects coding agents to IDEs: one core, a dialect per protocol, real tools on real workspaces."""

__version__ = "0.1.0"

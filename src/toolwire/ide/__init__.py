"""The headless IDE: connects to a gateway, runs the tools it is asked for, and keeps a ledger of what it did."""

"""The record: what a session's log, its conversations and their messages are kept in."""

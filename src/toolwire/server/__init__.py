"""The running gateway: live sessions, sockets, HTTP."""

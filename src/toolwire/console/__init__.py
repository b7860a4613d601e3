"""The web page: plain ES modules, no build step, served by `toolwire.server.http.console`."""

"""HTTP beside the sockets: health, schemas, sessions, the page."""

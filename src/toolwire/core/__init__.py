"""The core: sessions, turns, calls and their events. Pure: no sockets, disk, clock or randomness."""

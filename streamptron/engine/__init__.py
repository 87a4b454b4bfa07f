"""The path of an event, in Cython that needs no interpreter: see ARCHITECTURE.md."""

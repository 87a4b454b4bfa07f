"""The ways in: what Python gives is checked here, and becomes an event."""

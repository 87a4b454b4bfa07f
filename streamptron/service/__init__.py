"""A service over HTTP: it answers, learns, and can be watched."""

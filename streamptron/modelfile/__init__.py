"""Model files: their layout, their values, and how they are written, read and locked."""

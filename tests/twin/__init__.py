"""What the library is held against: slow, obvious, and without a line of the library."""

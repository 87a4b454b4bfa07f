"""The command line: its options, and a module for the work of each command."""

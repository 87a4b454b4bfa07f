"""What becomes of models: files, merges, tickets, journals, checkpoints."""

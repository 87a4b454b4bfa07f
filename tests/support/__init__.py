"""What several tests share: streams, learners in all variants, other processes, marks."""

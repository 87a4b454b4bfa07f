"""What makes the compiled core an estimator: batches and frames, explanations, pipelines."""

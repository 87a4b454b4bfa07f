"""What makes the compiled core an estimator: names, batches and frames, explanations, pipelines."""

"""Where older pickles look for the pipeline of a tokenizer and a learner."""

from streamptron.estimator.pipeline import TextPipeline as TextPipeline

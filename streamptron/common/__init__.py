"""What all floors above the engine share: names, checks, values, errors, River's modules."""

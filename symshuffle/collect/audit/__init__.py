"""Programs of others against what they claim: events fixed before the runs. What is claimed is certified elsewhere."""

"""Documents that are made from files, whose originals are kept."""

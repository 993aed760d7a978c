"""The two slots of vectors, and the models that fill them."""

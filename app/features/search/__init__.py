"""Search over what a workspace stores: hybrid (BM25 and vectors, fused) or literal, filters before candidates."""

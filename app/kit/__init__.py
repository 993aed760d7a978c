"""Pure words of the program: no input or output, no framework but pydantic."""

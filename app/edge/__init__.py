"""Wires: HTTP and MCP. Knows the gate and no feature."""

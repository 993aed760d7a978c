"""The MCP face: a tool is an operation with a name, a description and a text form; both eras on one endpoint."""

"""The handbook: pages for people, their Markdown, and an MCP endpoint to search and read them."""

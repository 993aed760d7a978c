"""What the service offers, told over REST as over MCP."""

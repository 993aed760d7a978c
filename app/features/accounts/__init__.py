"""Users, workspaces and members."""

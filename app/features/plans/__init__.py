"""What of its plan a workspace uses, and which plan it has."""

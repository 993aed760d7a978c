"""Sample data for a first look: made, and taken back, by ordinary operations."""

"""The audit trail: who changed what, by which grant and client, and when."""

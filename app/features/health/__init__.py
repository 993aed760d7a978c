"""Liveness and readiness for supervisors and load balancers."""

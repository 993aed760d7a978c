"""Examines a running service as a client meets it: over HTTP alone, with data of no part of the service.

Both the command line and the service's own page run these steps, so that nothing here may import either of them.
"""

"""The authorization server proper, on the library's grants and endpoints: the only code that knows the library.

The library is synchronous: every request is handled inside `run_sync` on one database connection, in one transaction.
"""

from __future__ import annotations

import logging

logging.getLogger("authlib").setLevel(logging.WARNING)  # at DEBUG it writes whole tokens down

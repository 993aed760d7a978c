"""How people sign in: passwords, browser sessions, one-time links."""

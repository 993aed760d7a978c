"""How Postgres, Redis and the job queue are held; knows no feature."""

"""Documents by which machines find out what this service is and how to use it."""

"""The REST face: a route is an operation with a method, a path and a status."""

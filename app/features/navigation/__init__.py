"""Finding passages, reading them, and walking from one to its neighbours, its section and its document."""

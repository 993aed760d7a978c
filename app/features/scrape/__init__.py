"""Documents that are kept from web pages, and brought up to date from there."""

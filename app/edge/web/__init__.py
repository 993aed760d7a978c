"""The pages' wire: templates, cookies, forms that only our own pages can send, headers that every page carries."""

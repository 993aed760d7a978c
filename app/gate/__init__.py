"""The one way in: who calls, what the operation allows, the transaction, the receipt. Knows no feature and no wire."""

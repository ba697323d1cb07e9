"""What an operator needs on top of the port. No Django here."""

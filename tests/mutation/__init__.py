"""The claims notice a wrong theory."""

"""Collect no claims of `zoo/`: tests copy them to another folder, and run them in new processes."""

collect_ignore = ["zoo"]

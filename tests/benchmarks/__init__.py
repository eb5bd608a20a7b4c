"""Speed, memory and samples that the suite needs: ``python -m tests.benchmarks``."""

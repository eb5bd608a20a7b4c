"""Claims, where theory meets evidence: one file per group of theorems."""

# The library in this folder is imported as recall_claims. That it could be had as
# claims.recall_claims too would not change without this file: a folder is a package either way.
import os

# numpy reads this when it is first imported: predictions are small, and threads of their linear
# algebra would only take the cores from the processes that simulate.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

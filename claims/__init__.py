"""Claims, where theory meets evidence: one file per group of theorems."""

# The library in this folder is imported as recall_claims. Without this file it could still be
# imported as claims.recall_claims too, because a folder is a package either way.
import os

# numpy reads this when it is first imported: predictions are small, and threads of their linear
# algebra would only take the cores from the processes that simulate.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

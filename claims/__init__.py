"""Where theory meets evidence: one file per theorem group."""

import os

# numpy reads this when it is first imported: predictions are small, and threads of their linear
# algebra would only take the cores from the processes that simulate.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

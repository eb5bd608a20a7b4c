"""What the claims on the lower bound share: their source, and the panel's accuracy."""

from torch import Tensor

from recall_claims import Block, Cell, Source
from simulation.lower_bound import gradient_channel
from simulation.lower_bound.estimators import named

SOURCE = Source("A", "A4", "A13")
SIZES = ("vocab_size", "length", "samples", "dim")


def derived(file: str) -> Source:
    """The same statements where no registered law is the prediction: the file that derives it."""
    return Source("A", "A4", "A13", provenance="derived", reference=f"theory/lower_bound/{file}")


def guessed(cell: Cell, block: Block, estimator: str) -> Tensor:
    """Accuracy of an estimator of the panel on gradients of training batches."""
    seen = block.draw(gradient_channel.discrete, {name: cell[name] for name in SIZES})
    return gradient_channel.estimator_accuracy(seen, named(estimator))

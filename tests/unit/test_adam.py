"""simulation.adam against torch."""

import torch

from simulation.adam import adam


def test_adam_is_that_of_torch() -> None:
    start = torch.linspace(-1, 1, 6, dtype=torch.float64)[None]
    ours, mean, square = start.clone(), torch.zeros_like(start), torch.zeros_like(start)
    theirs = start.clone().requires_grad_()
    optimiser = torch.optim.AdamW([theirs], lr=0.03, weight_decay=0)
    for step in range(1, 6):
        adam(ours, ours**3 - 0.2, mean, square, step, 0.03)
        theirs.grad = (theirs**3 - 0.2).detach()
        optimiser.step()
    torch.testing.assert_close(ours, theirs.detach(), rtol=1e-12, atol=1e-12)

"""Equal results from every device: a claim about this code."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

import recall_claims as rc
from claims.common import claim
from simulation import decoding
from simulation.attention import end_to_end, sampling, three_steps
from simulation.attention.sampling import Batch
from simulation.streams import Streams


def drawn(cell: rc.Cell, block: rc.Block, device: str, dtype: torch.dtype) -> Batch:
    """Draw a batch on the CPU, and move it to a device; the block's generators do not advance."""
    there = Streams(block.rngs, device)
    batch = sampling.draw(there.fork(), **cell, dtype=dtype)
    parts: dict[str, Any] = {n: x for n, x in vars(batch).items() if isinstance(x, Tensor)}
    with there.together():
        parts = {n: there.moved(x.double().numpy(), x.dtype) for n, x in parts.items()}
    return replace(batch, **parts)


def figures(batch: Batch) -> list[Tensor]:
    """Compute statistics of the replicates, (R, k) each."""
    scores = three_steps.token_scores(batch)
    found = [three_steps.value_memory(batch), scores.theta, scores.trigger]
    if batch.z.dtype is torch.float64:
        # Comparisons of scores decide these figures: in single precision a whole token may differ.
        memory = three_steps.trained_memory(batch, three_steps.attend(batch, scores))
        shares = end_to_end.run(batch)
        found += [memory, shares.accuracy, shares.localisation, shares.recall]
        found.append(decoding.predict(batch.u, memory, batch.z).to(batch.z.dtype))
    rows = [figure.view(batch.replicates, -1) for figure in found]
    return list(torch.split(torch.cat(rows, 1).cpu(), [row.shape[1] for row in rows], 1))


def distance(ones: list[Tensor], others: list[Tensor]) -> Tensor:
    """Find the largest relative distance, in units of the rounding of one operation: (R,)."""
    each = [(a - b).norm(dim=1) / b.norm(dim=1) for a, b in zip(ones, others, strict=True)]
    return torch.stack(each).amax(0) / torch.finfo(ones[0].dtype).eps


def ten_bits(batch: Batch) -> Batch:
    """Round z, u and the trigger as TensorFloat-32 does: to 10 bits after the leading bit."""

    def rounded(values: Tensor) -> Tensor:
        mantissa, exponent = torch.frexp(values)
        return torch.ldexp((mantissa * 2**11).round() / 2**11, exponent)

    return replace(batch, z=rounded(batch.z), u=rounded(batch.u), trigger=rounded(batch.trigger))


@claim(
    "A.same-on-every-device",
    "A GPU and the CPU give the same statistics of the three steps",
    source=rc.Source(
        "A", "A7", provenance="derived", reference="simulation/attention/three_steps.py"
    ),
    latex=r"\|x_{GPU} - x_{CPU}\| \le 64\,\epsilon\,\|x_{CPU}\|",
    regime="""The same draws on both, in single and in double precision; sums of up to N L = 32768
        terms, by both ways of contracting (V^2 below and above 16 N L).""",
    cells=rc.grid(vocab_size=(128, 1024), length=8, samples=4096, dim=64),
    replicates=4,
    rule=rc.Identity(64.0),
    why="""the unit is the rounding of one operation. In pilots under seeds of 1000 and above,
        single precision on the CPU was off by up to 4.4 units. Another order of summation adds
        about as much, and factors of 10 bits are off by 2500 units: 64 is between""",
    controls=(
        rc.reads(
            "tensor-float", "the GPU reads its factors as TensorFloat-32, with 10 bits", "ten_bits"
        ),
    ),
    needs="cuda",
)
def same_on_every_device(cell: rc.Cell, block: rc.Block) -> dict[str, Tensor]:
    """Up to rounding, the statistics of the three gradient steps do not depend on the device that
    computes them. The draws are the same, and products of float32 are kept in float32."""
    errors = []
    for dtype in (torch.float64, torch.float32):
        here, there = (drawn(cell, block, device, dtype) for device in (block.device, "cpu"))
        errors.append(distance(figures(here), figures(there)))
    blunt = distance(figures(ten_bits(there)), figures(there))
    return {"error": torch.stack(errors).amax(0), "ten_bits": blunt}

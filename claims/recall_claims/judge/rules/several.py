"""Several estimands of one simulation, judged as the components of one claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from recall_claims.judge.methods import Method
from recall_claims.judge.rules.base import Components, Evidence, Predict, Rule, Sample
from recall_claims.model.cell import Cell
from recall_claims.model.errors import ClaimError
from recall_claims.model.region import Interval


@dataclass(frozen=True)
class Several(Rule):
    """Rules by name, which must all hold; `predict` returns a prediction per name, or one for all.

    With `Several({"low": Quantile(region, 0.1), "high": Quantile(region, 0.9)})`, `predict`
    returns {"low": ..., "high": ...}, and both quantiles have to be as predicted.
    """

    rules: Mapping[str, Rule]
    estimand: ClassVar[str] = "Each by its own rule, jointly."

    def __post_init__(self) -> None:
        scales = {rule.scale for rule in self.rules.values()}
        if len(scales) != 1:
            raise ClaimError(
                f"rules of one claim share a scale, not {', '.join(sorted(scales)) or 'none'}: "
                "their resolution is one number; make a claim of each"
            )
        object.__setattr__(self, "scale", scales.pop())

    @property
    def method(self) -> Method:
        """The method of the first rule that is not exact; if all are exact, of the first rule."""
        return min(self.rules.values(), key=lambda rule: rule.exact).method

    @property
    def anytime(self) -> bool:
        return all(rule.anytime for rule in self.rules.values())

    @property
    def guarantee(self) -> str:
        return " ".join(dict.fromkeys(rule.guarantee for rule in self.rules.values()))

    def parts(self, predict: Predict | None) -> list[tuple[Rule, Predict | None]]:
        return [(rule, _own(predict, name)) for name, rule in self.rules.items()]

    def check(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        for rule, own in self.parts(predict):
            rule.check(cells, own)

    def completed(self, cells: Sequence[Cell], predict: Predict | None) -> tuple[Cell, ...]:
        for rule, own in self.parts(predict):
            cells = rule.completed(cells, own)
        return tuple(cells)

    def decidable(self, cells: Sequence[Cell], predict: Predict | None) -> None:
        for rule, own in self.parts(predict):
            rule.decidable(cells, own)

    def alone(self, point: Cell, predict: Predict | None) -> tuple[Cell, ...]:
        found = [cell for rule, own in self.parts(predict) for cell in rule.alone(point, own)]
        return tuple(dict.fromkeys(found))

    def components(self, evidence: Evidence, predict: Predict | None, alpha: float) -> Components:
        result = []
        for name, (rule, own) in zip(self.rules, self.parts(predict), strict=True):
            strict = rule.components(evidence, own, alpha / len(self.rules))
            single = rule.components(evidence, own, alpha)
            result += [
                replace(part, name=f"{name}: {part.name}", one_sided=alike.bounds)
                for part, alike in zip(strict, single, strict=True)
            ]
        return tuple(result)

    def doubt(self, evidence: Evidence) -> str:
        doubts = ((name, rule.doubt(evidence)) for name, rule in self.rules.items())
        return "; ".join(f"{name}: {doubt}" for name, doubt in doubts if doubt)

    @property
    def _first(self) -> Rule:
        return next(iter(self.rules.values()))

    def observed(self, sample: Sample) -> float | str | None:
        """Return the observed value of the first rule."""
        return self._first.observed(sample)

    def observed_interval(self, sample: Sample, alpha: float) -> Interval | None:
        return self._first.observed_interval(sample, alpha)

    def observed_error(self, sample: Sample) -> float | None:
        return self._first.observed_error(sample)


def _own(predict: Predict | None, name: str) -> Predict | None:
    """Return a cell's prediction of this name, or its only prediction."""
    if predict is None:
        return None

    def own(cell: Cell) -> Any:
        found = predict(cell)
        if not isinstance(found, Mapping):
            return found
        if name not in found:
            raise ClaimError(f"predict gives {sorted(found)} at {cell.id}, and no {name!r}")
        return found[name]

    return own

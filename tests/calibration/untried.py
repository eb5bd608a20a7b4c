"""Predictions that are not tried at random points, and why."""

LIMIT = "a limit; its docstring says how far finite sizes are from it, and claims judge that"
BOUND = "a bound; claims are one-sided, and tight where they say so"
EXPONENT = "an exponent; claims judge it over a lever"
PART = "a part of a prediction that is tried"
INVERSE = "the exact inverse of a prediction that is tried; unit tests compare them"
CLAIMED = "within 1e-4 but for the size of the steps; the claims of its file hold it to that"
SEVERAL = "its docstring or its claims say how far off it is; claims hold it to their regions"
PUBLISHED = "a published line, taken over; claims judge it"

UNTRIED = {
    "attention.capacity.coverage_samples": PART,
    "attention.capacity.max_length": INVERSE,
    "attention.capacity.max_vocab": INVERSE,
    "attention.capacity.min_dim": INVERSE,
    "attention.critical.critical_samples": "`threshold` at the sizes of a problem",
    "attention.critical.critical_snr": PART,
    "attention.critical.kappa": PART,
    "attention.critical.power_law": PART,
    "attention.localisation.given_snr": PART,
    "attention.localisation.snr": PART,
    "attention.recall.all_tokens_dim": LIMIT,
    "attention.recall.half_dim_asymptotic": LIMIT,
    "attention.signal.signal_unit": PART,
    "attention_mlp.noise.snr": PART,
    "factual.constructions.compressed_width": INVERSE,
    "factual.sequential_learning.half_step": "`half_time` in steps; B.sgd-half-steps trains by SGD",
    "factual.trained_transformer.capacity": PUBLISHED,
    "factual.trained_transformer.traded_capacity": PUBLISHED,
    "lower_bound.ceiling.critical_dim": BOUND,
    "lower_bound.ceiling.exact_recovery": BOUND,
    "lower_bound.ceiling.information_needed": BOUND,
    "lower_bound.ceiling.largest_accuracy": BOUND,
    "lower_bound.gradient_capacity.half_dim": LIMIT,
    "lower_bound.gradient_capacity.half_samples": LIMIT,
    "lower_bound.gradient_channel.entry_information": PART,
    "lower_bound.gradient_channel.information": BOUND,
    "lower_bound.gradient_channel.snr": PART,
    "lower_bound.width_information.largest_share": BOUND,
    "memory.bits.accuracy_ceiling": BOUND,
    "memory.bits.loss_floor": BOUND,
    "memory.linear.all_dim_asymptotic": LIMIT,
    "memory.linear.half_dim_asymptotic": LIMIT,
    "memory.listwise.critical_associations": SEVERAL,
    "memory.listwise.critical_load": LIMIT,
    "memory.mlp.asymptotic_width": LIMIT,
    "memory.optimal.extreme_value": "exact where scores are independent",
    "memory.perceptron.binary_capacity": LIMIT,
    "memory.perceptron.capacity": "where `separable_share` is one half, exactly",
    "memory.zipf.cutoff_exponent": EXPONENT,
    "memory.zipf.power_exponent": EXPONENT,
    "memory.zipf.samples_exponent": EXPONENT,
    "spectral.flows.gradient_error": CLAIMED,
    "spectral.flows.learning_time": CLAIMED,
    "spectral.flows.log_odds": CLAIMED,
    "spectral.flows.spectral_decay_rate": LIMIT,
    "spectral.flows.time_ratio": CLAIMED,
    "spectral.one_step.critical_batch": SEVERAL,
    "spectral.one_step.recalled_gradient": SEVERAL,
    "spectral.one_step.recalled_newton": SEVERAL,
    "spectral.one_step.recalled_spectral": SEVERAL,
    "spectral.several_steps.recalled": SEVERAL,
    "spectral.softmax_memory.spectral_floor": CLAIMED,
    "spectral.softmax_memory.steady_loss": CLAIMED,
    "spectral.softmax_memory.steps_to_floor": "a lead over a rate; a unit test counts the steps",
}
"""By module and name below `theory`."""

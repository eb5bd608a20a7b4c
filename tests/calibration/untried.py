"""Predictions that are not tried at random points, and why."""

REASONS = """
a part of a prediction that is tried:
    attention.capacity.coverage_samples attention.critical.critical_snr attention.critical.kappa
    attention.critical.power_law attention.localisation.given_snr attention.localisation.snr
    attention.signal.signal_unit attention_mlp.noise.snr
    lower_bound.gradient_channel.entry_information lower_bound.gradient_channel.snr
a limit; its docstring says how far finite sizes are from it, and claims judge that:
    attention.recall.all_tokens_dim attention.recall.half_dim_asymptotic
    lower_bound.gradient_capacity.half_dim lower_bound.gradient_capacity.half_samples
    memory.linear.all_dim_asymptotic memory.linear.half_dim_asymptotic
    memory.listwise.critical_load memory.mlp.asymptotic_width memory.perceptron.binary_capacity
    spectral.flows.spectral_decay_rate
a bound; claims are one-sided, and tight where they say so:
    lower_bound.ceiling.critical_dim lower_bound.ceiling.exact_recovery
    lower_bound.ceiling.information_needed lower_bound.ceiling.largest_accuracy
    lower_bound.gradient_channel.information lower_bound.width_information.largest_share
    memory.bits.accuracy_ceiling memory.bits.loss_floor
its docstring or its claims say how far off it is; claims hold it to their regions:
    memory.listwise.critical_associations spectral.one_step.critical_batch
    spectral.one_step.recalled_gradient spectral.one_step.recalled_newton
    spectral.one_step.recalled_spectral spectral.several_steps.recalled
within 1e-4 but for the size of the steps; the claims of its file hold it to that:
    spectral.flows.gradient_error spectral.flows.learning_time spectral.flows.log_odds
    spectral.flows.time_ratio spectral.softmax_memory.spectral_floor
    spectral.softmax_memory.steady_loss
the exact inverse of a prediction that is tried; unit tests compare them:
    attention.capacity.max_length attention.capacity.max_vocab attention.capacity.min_dim
    factual.constructions.compressed_width
an exponent; claims judge it over a lever:
    memory.zipf.cutoff_exponent memory.zipf.power_exponent memory.zipf.samples_exponent
a published line, taken over; claims judge it:
    factual.trained_transformer.capacity factual.trained_transformer.traded_capacity
`threshold` at the sizes of a problem:
    attention.critical.critical_samples
`half_time` in steps; B.sgd-half-steps trains by SGD:
    factual.sequential_learning.half_step
exact where scores are independent:
    memory.optimal.extreme_value
where `separable_share` is one half, exactly:
    memory.perceptron.capacity
a lead over a rate; a unit test counts the steps:
    spectral.softmax_memory.steps_to_floor
"""
UNTRIED = [name for line in REASONS.splitlines() if line.startswith(" ") for name in line.split()]
"""By module and name below `theory`."""

"""Predictions: formulas, evaluated with numpy and scipy. No module here imports a simulation."""

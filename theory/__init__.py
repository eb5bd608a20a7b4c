"""Predictions: closed forms in numpy and scipy. No module here imports a simulation."""

"""Predictions: closed forms in numpy and scipy. Nothing here can see a simulation."""

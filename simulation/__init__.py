"""Simulations that make the evidence, in torch, many replicates at a time.

In shapes, R is the number of replicates, unless a class or module names another letter. No module
here imports a prediction.
"""

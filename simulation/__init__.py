"""Evidence: batched simulations in torch. No module here imports a prediction."""

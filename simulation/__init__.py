"""Evidence: batched simulations in torch. Nothing here can see a prediction."""

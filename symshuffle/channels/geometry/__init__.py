"""Cones, polytopes, orders and symmetries of channels, and the certified linear programs behind them."""

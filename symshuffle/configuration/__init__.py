"""What files and command lines say of a deployment, read and written: randomizers by name, deployments in TOML."""

"""Attacks on a built `tern`, each with figures and bounds. `Tools/attack --help` lists them."""

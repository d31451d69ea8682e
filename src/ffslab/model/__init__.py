"""Frozen specifications of what a case is made of; no input or output here."""

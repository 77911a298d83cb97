"""Prompt files, one a decision of the model policy; the rules policy needs none."""

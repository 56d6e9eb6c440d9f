"""Model-assisted annotation: two models label, people and an adjudicator settle, and friction is reported."""

"""Audits: of stimuli (can emotions be told by style alone?), of items (item response over runs), of thoughts (can a
moved decision be caught in its reasoning?), and drift over several runs."""

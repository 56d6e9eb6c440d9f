"""The pages: rendered on the server, with htmx for what is saved while people work and a small script for keys."""

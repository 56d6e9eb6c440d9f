"""The command line: one file per group of commands, nothing but argument handling."""

"""``python -m tests.cases FILE [--area A]``."""

import sys

from tests.cases.runner import main

sys.exit(main(sys.argv[1:]))

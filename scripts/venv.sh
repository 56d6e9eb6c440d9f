#!/bin/sh
# Makes the virtual environment, or says what is missing. Called by the Makefile with PYTHON and VENV set.
set -eu

command -v "$PYTHON" >/dev/null 2>&1 || {
  echo "There is no '$PYTHON' here. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3.11 ..." >&2
  exit 1
}
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "affectlab needs Python 3.11 or newer; '$PYTHON' is $("$PYTHON" --version 2>&1). Name another: make PYTHON=python3.11 ..." >&2
  exit 1
}
"$PYTHON" -c 'import venv, ensurepip' 2>/dev/null || {
  echo "'$PYTHON' lacks the venv module. On Debian and Ubuntu: apt-get install python3-venv (or python3.11-venv, as the version is)." >&2
  exit 1
}
if [ ! -x "$VENV/bin/python" ]; then
  echo "Making $VENV with $("$PYTHON" --version 2>&1) ..."
  "$PYTHON" -m venv "$VENV"
fi

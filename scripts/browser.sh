#!/usr/bin/env bash
# Sees to it that there is a headless Chromium for the browser tests. Without one they skip and say so;
# where CI=true that would hide a gap, so there it is an error.
set -euo pipefail

for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done

if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "Installing Chromium for the browser tests ..."
  log="$(mktemp)"
  if { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium; } >"$log" 2>&1; then
    rm -f "$log"
    exit 0
  fi
  tail -n 20 "$log" >&2
  rm -f "$log"
fi

echo "No Chromium here: the browser tests will skip. To run them, install it (Debian: apt-get install chromium)." >&2
[ "${CI:-}" != "true" ] || exit 1

#!/usr/bin/env bash
# Sees to it that there are a headless Chromium and a PostgreSQL server for the tests that need one. Without them those tests
# skip and say so; where CI=true that would hide a gap, so there it is an error.
set -euo pipefail

wanted=()
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 ||
  wanted+=(chromium)
compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || wanted+=(postgresql)
[ "${#wanted[@]}" -gt 0 ] || exit 0

if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "Installing ${wanted[*]} for the tests ..."
  log="$(mktemp)"
  if { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${wanted[@]}"; } >"$log" 2>&1; then
    rm -f "$log"
    exit 0
  fi
  tail -n 20 "$log" >&2
  rm -f "$log"
fi

echo "Not here: ${wanted[*]}. Tests that need them will skip. To run them, install it (Debian: apt-get install ${wanted[*]})." >&2
[ "${CI:-}" != "true" ] || exit 1

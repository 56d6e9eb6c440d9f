#!/usr/bin/env bash
# Sees to it that there are a headless Chromium and a PostgreSQL server for the tests that need one. Without them those tests
# skip and say so; where CI=true that would hide a gap, so there it is an error. A font with Chinese characters is wanted too, so
# that screenshots of Chinese pages can be looked at; no test fails without it.
set -euo pipefail

wanted=()
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 ||
  wanted+=(chromium)
compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || wanted+=(postgresql)
needed="${#wanted[@]}"
chinese() {
  if command -v fc-list >/dev/null 2>&1; then [ -n "$(fc-list :lang=zh family 2>/dev/null)" ]; else
    [ -n "$(find /usr/share/fonts /usr/local/share/fonts ~/.fonts ~/.local/share/fonts -iname '*cjk*' -o -iname 'wqy*' -o -iname '*fallback*' 2>/dev/null)" ]
  fi
}
chinese || wanted+=(fonts-wqy-microhei)
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

if [ "$needed" = 0 ]; then
  echo "Not here: a font with Chinese characters; screenshots show boxes (Debian: apt-get install ${wanted[*]})." >&2
  exit 0
fi
echo "Not here: ${wanted[*]}. Tests that need them will skip. To run them, install it (Debian: apt-get install ${wanted[*]})." >&2
[ "${CI:-}" != "true" ] || exit 1

# shellcheck shell=bash
# For the system tests: paths, temporary folder, and lines `ok name` / `not ok name: why`.
#
# ATTACCA_BIN names the folder with the built commands; ATTACCA_MEDIA the generated media. A test whose surroundings
# are missing is skipped, which is a failure where ATTACCA_STRICT is 1.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=${ATTACCA_BIN:-$root/.build/release}
media=${ATTACCA_MEDIA:-$root/.media/test}
attacca=$bin/attacca
export root bin media attacca

work=$(mktemp -d)
export work
# Nothing of the user's own state is read or written.
export XDG_DATA_HOME=$work/data XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state
export XDG_RUNTIME_DIR=$work/runtime HOME=$work/home
mkdir -p "$HOME" && mkdir -m 700 "$XDG_RUNTIME_DIR"
# shellcheck disable=SC2064 # the folder's name is known now
trap "chmod -R u+rwX '$work' 2>/dev/null; rm -rf '$work'" EXIT

failures=0
ok() { printf 'ok %s\n' "$1"; }
not_ok() {
  printf 'not ok %s: %s\n' "$1" "$2"
  failures=$((failures + 1))
}
skip() {
  if [[ ${ATTACCA_STRICT:-} == 1 ]]; then
    not_ok "$1" "$2"
  else
    printf 'ok %s # skipped: %s\n' "$1" "$2"
  fi
}
finish() { exit $((failures > 0)); }

# expect NAME CONDITION-COMMAND…: the command must succeed; its output is the reason when it does not.
expect() {
  local name=$1 said
  shift
  if said=$("$@" 2>&1); then
    ok "$name"
  else
    not_ok "$name" "$(grep -v '^ok ' <<<"$said" | tr '\n' ';' | tail -c 600)"
  fi
}

# Runs attacca with a limit on its time; 124 means that it hung.
run_attacca() { timeout -k 5 "${limit:-30}" "$attacca" "$@" </dev/null; }

need_attacca() {
  [[ -x $attacca ]] || {
    not_ok "attacca" "there is no $attacca; build it first"
    finish
  }
}

need() {
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || {
      skip "$command" "not installed"
      finish
    }
  done
}

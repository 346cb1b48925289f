# What quickstart and check have in common: packages, Python environment, build.
# Sourced from the project's root; each step says nothing when nothing is to do.

jobs=${DLC_JOBS:-$(nproc)}
log=build/log
mkdir -p "$log"

say() { printf '== %s\n' "$*"; }

# quietly NAME COMMAND...: the output goes to a log, shown only on failure.
quietly() {
  local name=$1; shift
  "$@" >"$log/$name.log" 2>&1 && return
  tail -n 40 "$log/$name.log" >&2
  printf 'error: %s failed; the whole log is in %s\n' "$name" "$log/$name.log" >&2
  return 1
}

install_packages() {
  local wanted missing root=
  wanted=$(sed 's/#.*//' cmake/packages.txt)
  # shellcheck disable=SC2086
  missing=$(comm -23 <(printf '%s\n' $wanted | sort) \
    <(dpkg-query -W -f='${Package} ${Status}\n' $wanted 2>/dev/null |
      sed -n 's/ install ok installed$//p' | sort))
  [ -z "$missing" ] && return
  say "installing Debian packages:" $missing
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "error: packages are missing and there is no sudo; as root run:" >&2
      echo "  apt-get install" $missing >&2
      return 2
    fi
    root="sudo"
  fi
  quietly apt-update $root apt-get update
  # shellcheck disable=SC2086
  $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      $missing 2>&1 | tee "$log/apt-install.log" |
    awk '/newly installed/ {total = $3}
         /^Setting up/ && ++n % 10 == 0 {printf "   %d of %s packages set up\n", n, total; fflush()}' ||
    { tail -n 20 "$log/apt-install.log" >&2; return 1; }
}

make_venv() {
  cmp -s test/requirements.txt .venv/installed.txt && return
  say "making .venv from test/requirements.txt"
  rm -rf .venv
  quietly venv python3 -m venv .venv
  quietly pip .venv/bin/pip install -q --disable-pip-version-check --no-deps -r test/requirements.txt
  cp test/requirements.txt .venv/installed.txt
}

build() {
  [ -f build/build.ninja ] || { say "configuring"; quietly cmake cmake --preset release; }
  # Every tenth step, and all that is not a step: warnings and failures.
  NINJA_STATUS='   [%f of %t, %es] ' ninja -C build -j "$jobs" | awk '
    /no work to do|Entering directory|Re-checking globbed|^-- |Re-running CMake/ {next}
    !n++ {print "== building with '"$jobs"' jobs"}
    /^   \[[0-9]+ of / && ++steps % 10 {next}
    {print; fflush()}'
}

# Three lines, not a chain: `set -e` must hold inside each.
set_up() {
  install_packages
  make_venv
  build
}

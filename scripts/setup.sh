#!/bin/sh
# Set up a checkout: a virtual environment with everything that the Makefile uses, and a Vulkan
# driver. Idempotent: where nothing is to do it starts no pip and uses no network; where an earlier
# run was interrupted it repairs what that run left.
#
#   sh scripts/setup.sh          environment and driver
#   sh scripts/setup.sh venv     environment only
#
# Environment:
#   PYTHON                  interpreter to build the environment with (default: search)
#   VENV                    the environment's folder (default: .venv)
#   VYRE_SETUP_NO_DRIVER=1  do not look for a Vulkan driver

set -eu

cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-}
VENV=${VENV:-.venv}
VENV=${VENV%/}
EXTRAS='cli,dev,docs'
NEEDS='Python 3.11 or newer'

# Marks a folder as made here, before anything else is in it: only such a folder is ever deleted.
MARKER=$VENV/.vyre-setup
# Written last. First line: what the environment was built for; second: what was installed.
STAMP=$VENV/.vyre-setup-done
LOG=$VENV/.vyre-setup.log

say() { printf 'setup: %s\n' "$*"; }

fail() {
    printf 'setup: error: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    exit 1
}

# run WHAT HINT COMMAND...: runs COMMAND quietly; if it fails, shows the end of its output and stops.
run() {
    what=$1 hint=$2
    shift 2
    if ! "$@" >"$LOG" 2>&1 </dev/null; then
        tail -n 15 "$LOG" >&2
        fail "$what failed; the whole output is in $LOG" "$hint"
    fi
}

# --- Python -------------------------------------------------------------------------------------

recent_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

can_make_venvs() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }

# Base installation and version: equal for an interpreter and the environments made from it.
identity() {
    "$1" -c 'import sys; print(sys.base_prefix, *sys.version_info[:2])' 2>/dev/null
}

# Sets `interpreter`.
find_python() {
    without_venv=
    if [ "$PYTHON" ]; then
        set -- "$PYTHON"
    else
        set -- python3 python3.14 python3.13 python3.12 python3.11
    fi
    for candidate; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        recent_enough "$candidate" || continue
        if can_make_venvs "$candidate"; then
            interpreter=$candidate
            return
        fi
        without_venv=${without_venv:-$candidate}
    done
    if [ "$without_venv" ]; then
        fail "$without_venv cannot make virtual environments: its module venv or ensurepip is missing" \
            'On Debian and Ubuntu: apt-get install python3-venv; then run the command again.'
    fi
    if [ "$PYTHON" ]; then
        fail "PYTHON=$PYTHON is not $NEEDS" 'Set PYTHON to one that is, or leave it out.'
    fi
    fail "no $NEEDS was found" \
        'Install one, or say where it is, and run the command again: make PYTHON=/path/to/python3.12 ...'
}

# --- The environment ----------------------------------------------------------------------------

# The environment's interpreter runs, is recent enough, and comes from PYTHON where that is set.
environment_works() {
    recent_enough "$VENV/bin/python" || return 1
    [ -z "$PYTHON" ] || [ "$(identity "$PYTHON")" = "$(identity "$VENV/bin/python")" ]
}

# Scripts in an environment and an editable install hold absolute paths: they follow no move.
built_for="$(pwd -P) $VENV"
installed="$EXTRAS $(cksum <pyproject.toml)"

set_up_environment() {
    if [ -f "$STAMP" ] && environment_works; then
        { read -r was_for && read -r was_installed; } <"$STAMP" || was_for=''
    else
        was_for='' was_installed=''
    fi
    [ "$was_for" != "$built_for" ] || [ "$was_installed" != "$installed" ] || return 0

    if [ "$was_for" != "$built_for" ]; then
        make_environment
    fi
    rm -f "$STAMP"
    say 'installing Python packages (some minutes the first time)'
    run 'pip' 'Run the command again with network access.' \
        "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
        --editable ".[$EXTRAS]"
    # A second WGSL compiler, for one test that is skipped without it.
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
        --only-binary wgpudawn --editable '.[dawn]' >"$LOG" 2>&1 </dev/null ||
        say 'no wheel of wgpudawn was found: tests/wgsl/test_second_compiler.py will skip some tests'
    printf '%s\n' "$built_for" "$installed" >"$STAMP.new"
    mv "$STAMP.new" "$STAMP"
}

make_environment() {
    if [ ! -f "$MARKER" ] && environment_works && "$VENV/bin/python" -m pip --version >/dev/null; then
        say "using the environment in $VENV"
        return
    fi
    find_python
    if [ -f "$MARKER" ]; then
        rm -rf "$VENV"
    elif [ -d "$VENV" ] && [ "$(ls -A "$VENV")" ]; then
        fail "$VENV is neither empty nor a usable environment with $NEEDS and pip" \
            'Remove it or move it away, or choose another folder: make VENV=other-folder ...'
    fi
    say "making $VENV with $("$interpreter" --version 2>&1) ($interpreter)"
    mkdir -p "$VENV"
    : >"$MARKER"
    run 'python -m venv' 'On Debian and Ubuntu: apt-get install python3-venv; then run the command again.' \
        "$interpreter" -m venv "$VENV"
}

# --- The Vulkan driver --------------------------------------------------------------------------

APT_PACKAGES='mesa-vulkan-drivers libvulkan1'

# Sets `devices` (on success) or `reason`.
find_devices() {
    if devices=$("$VENV/bin/python" scripts/vulkan_devices.py 2>"$LOG"); then
        return 0
    fi
    reason=$(tail -n 1 "$LOG")
    reason=${reason:-the Vulkan driver crashed}
    return 1
}

set_up_driver() {
    case $(uname -s) in
    Linux) ;;
    *) return 0 ;; # macOS: Metal is part of the system.
    esac
    if find_devices; then
        return 0
    fi
    say "no Vulkan device: $reason"
    command -v apt-get >/dev/null 2>&1 || fail_without_apt
    as_root=$(root_prefix)
    retry="Run the command again with network access, or install by hand: ${as_root:+sudo }apt-get install $APT_PACKAGES"
    say "installing $APT_PACKAGES with apt-get"
    # The prefix and the package list are meant to be split into words.
    # shellcheck disable=SC2086
    {
        run 'apt-get update' "$retry" \
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
        run 'apt-get install' "$retry" \
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
            --no-install-recommends $APT_PACKAGES
    }
    find_devices || fail "there is still no Vulkan device: $reason" \
        'Look at VK_DRIVER_FILES and VK_ICD_FILENAMES if they are set, and at the GPU driver.' \
        'VYRE_SETUP_NO_DRIVER=1 skips this check.'
    say "Vulkan device: $(printf '%s' "$devices" | head -n 1)"
}

# Prints what to put before a command that needs root; sudo asks for a password only on a terminal.
root_prefix() {
    if [ "$(id -u)" -eq 0 ]; then
        return 0
    fi
    if command -v sudo >/dev/null 2>&1; then
        if sudo -n true 2>/dev/null; then
            echo 'sudo -n'
            return 0
        fi
        if [ -t 0 ] && sudo -v >&2; then
            echo sudo
            return 0
        fi
    fi
    fail 'installing a Vulkan driver needs root' \
        "As root: apt-get install $APT_PACKAGES; then run the command again."
}

fail_without_apt() {
    fail 'no Vulkan driver, and no apt-get to install one with' \
        'Install the driver of your GPU, or the software driver of Mesa, and run the command again:' \
        '  Fedora, RHEL   dnf install mesa-vulkan-drivers vulkan-loader' \
        '  Arch           pacman -S vulkan-swrast vulkan-icd-loader' \
        '  openSUSE       zypper install libvulkan_lvp libvulkan1' \
        '  Alpine         apk add mesa-vulkan-swrast vulkan-loader' \
        'VYRE_SETUP_NO_DRIVER=1 skips this check.'
}

case ${1:-all} in
all | venv) ;;
*) fail "unknown argument: $1" 'usage: sh scripts/setup.sh [venv]' ;;
esac
case $(uname -s) in
MINGW* | MSYS* | CYGWIN*)
    fail 'this script does not serve Windows' \
        'Use pip: py -m venv .venv, then .venv\Scripts\pip install -e .[cli,dev,docs]' \
        'The GPU is reached through DX12: the driver of its vendor is all that is needed.'
    ;;
esac

set_up_environment
if [ "${1:-all}" = all ] && [ "${VYRE_SETUP_NO_DRIVER:-}" != 1 ]; then
    set_up_driver
fi

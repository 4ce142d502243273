#!/bin/sh
# Makes the virtual environment $1 with the first Python here that is new enough: $PYTHON if set, else the usual names.
# Says what to do where there is none, or where (as in Debian) pip and venv are packages of their own.
set -eu

for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        found=$python
        break
    fi
done

if [ -z "${found:-}" ]; then
    echo "heartroom needs Python 3.11 or newer, and found none." >&2
    echo "If yours has another name, say so: make play PYTHON=/path/to/python3.12" >&2
    exit 1
fi

if ! "$found" -c 'import ensurepip, venv' 2>/dev/null; then
    version=$("$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "$found cannot make virtual environments: its modules ensurepip or venv are missing." >&2
    echo "On Debian and Ubuntu: sudo apt-get install python$version-venv" >&2
    exit 1
fi

"$found" -m venv --clear "$1"

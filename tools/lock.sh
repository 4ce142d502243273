#!/bin/sh
# Pins, in requirements/, the newest version of all that pyproject.toml names and of all that these need, for every
# Python and platform at once. No header and no addresses: where packages come from is each machine's own affair.
set -eu

pin() {
    uv pip compile --quiet --upgrade --universal --python-version 3.11 \
        --no-header --no-annotate --no-emit-index-url --no-emit-find-links "$@" >/dev/null
}

pin pyproject.toml --group test -o requirements/test.txt
pin pyproject.toml -c requirements/test.txt -o requirements/play.txt
pin --group client -c requirements/test.txt -o requirements/client.txt
pin --group audit -c requirements/test.txt -o requirements/audit.txt

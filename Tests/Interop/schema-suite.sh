#!/bin/sh
# Runs the official JSON-Schema-Test-Suite, which is included in the PyPI source package jsonschema 4.23.0.
# SCHEMA_SUITE=DIR uses an existing suite; SCHEMA_SUITE_RUNNER names the built program.
set -eu
unset CDPATH
root=$(cd "$(dirname "$0")/../.." && pwd)

if [ -z "${SCHEMA_SUITE:-}" ]; then
    if ! command -v python3 >/dev/null || ! python3 -m pip --version >/dev/null 2>&1; then
        echo "schema-suite: skipped, python3 with pip is needed to fetch it"
        [ "${CI:-}" = true ] && exit 1
        exit 0
    fi
    temporary=$(mktemp -d)
    trap 'rm -rf "$temporary"' EXIT
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
        --dest "$temporary" jsonschema==4.23.0
    tar -xzf "$temporary/jsonschema-4.23.0.tar.gz" -C "$temporary"
    SCHEMA_SUITE=$temporary/jsonschema-4.23.0/json
fi

if [ -z "${SCHEMA_SUITE_RUNNER:-}" ]; then
    swift build --package-path "$root" --configuration release --product schema-suite
    SCHEMA_SUITE_RUNNER=$(swift build --package-path "$root" --configuration release --show-bin-path)/schema-suite
fi
"$SCHEMA_SUITE_RUNNER" "$SCHEMA_SUITE" "$@"

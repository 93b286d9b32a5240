#!/usr/bin/env bash
# Checks that the programs, the change log and, with an argument, the tag of a release have one version:
#     check-version.sh [v0.1.0]
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$(Tools/dist/version.sh)
fail() { echo "version: $1" >&2; exit 1; }
[ $# -le 1 ] || { echo "usage: check-version.sh [TAG]" >&2; exit 2; }

[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || fail "\"$version\" is not MAJOR.MINOR.PATCH"
first=$(sed -n 's/^## //p' CHANGELOG.md | head -1)
[[ $first == "$version" || $first == "$version "* ]] ||
    fail "the first section of CHANGELOG.md is \"$first\", the version is $version"
git rev-parse --verify HEAD >/dev/null || fail "needs a clone, to look for the version in all sources"
strays=$(git grep --no-color -nE "\"$(printf %s "$version" | sed 's/\./\\./g')\"" -- Sources |
    grep -v '/PackageVersion.swift:' || true)
[[ -z $strays ]] || fail "the version is written in other places as well:
$strays"
if [[ -n ${1:-} ]]; then
    [[ $1 == "v$version" ]] || fail "the tag is $1, the version is $version"
    # The form that date.sh reads.
    date='^[^ ]+ \([0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\)$'
    [[ $first =~ $date ]] || fail "the section \"$first\" of CHANGELOG.md has no date: \"$version (YYYY-MM-DD)\""
fi
echo "version: $version"

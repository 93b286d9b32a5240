#!/usr/bin/env bash
# Prints the time of this source, in seconds since 1970, for everything that is built with a date: SOURCE_DATE_EPOCH,
# or the time of the commit, or that of the newest release in the change log; nothing if there is none of them.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# In a tarball, git archive has replaced it (.gitattributes).
archived='$Format:%ct$'
if [[ -n ${SOURCE_DATE_EPOCH:-} ]]; then
    if [[ ! $SOURCE_DATE_EPOCH =~ ^[0-9]{1,11}$ ]]; then
        echo "date.sh: SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH is not a number of seconds since 1970" >&2
        exit 1
    fi
    printf '%s\n' "$SOURCE_DATE_EPOCH"
elif [[ $archived =~ ^[0-9]+$ ]]; then
    printf '%s\n' "$archived"
# Not of a repository in which this source is a folder.
elif [[ -e .git ]] && time=$(git -c log.showSignature=false log -1 --format=%ct); then
    printf '%s\n' "$time"
else
    # git has said why, such as that the clone belongs to another user.
    if [[ -e .git ]]; then echo "date.sh: git does not tell the time of the commit; set SOURCE_DATE_EPOCH, or there may be no date" >&2; fi
    # The days from a civil date, with years that begin in March.
    sed -nE 's/^## .*\(([0-9]{4})-([0-9]{2})-([0-9]{2})\)$/\1 \2 \3/p' CHANGELOG.md | awk 'NR == 1 {
        year = $1; month = $2 + 0
        if (month <= 2) { year -= 1; month += 12 }
        days = 365 * year + int(year / 4) - int(year / 100) + int(year / 400) + int((153 * (month - 3) + 2) / 5) + $3 - 1
        printf "%d\n", (days - 719468) * 86400 }'
fi

#!/usr/bin/env bash
# Prints the version of the package. Its one place is the constant that the programs print.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
sed -n 's/.*static let current = "\(.*\)"$/\1/p' Sources/MCPCore/Protocol/PackageVersion.swift

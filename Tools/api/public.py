#!/usr/bin/env python3
"""Prints a dump of swift-api-digester without declarations that only this package sees: public.py DUMP."""
import json
import sys


def public(node):
    if "children" in node:
        node["children"] = [public(child) for child in node["children"]
                            if not child.get("isInternal") and child.get("declKind") != "Import"]
    return node


with open(sys.argv[1], encoding="utf-8") as file:
    json.dump(public(json.load(file)), sys.stdout, separators=(",", ":"))

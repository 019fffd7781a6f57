#!/usr/bin/env python3
"""A proxy without any SDK that passes everything on."""

import json
import sys

# Its own requests that are open, and the ids of those that they stand for.
asked: dict[int, object] = {}


def say(message: dict) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def pass_on(message: dict) -> dict:
    method, params = message["method"], message.get("params")
    if method == "proxy/successor":
        return params
    if method == "proxy/initialize":
        method = "initialize"
    return {"method": "proxy/successor", "params": {"method": method, "params": params}}


count = 0
for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        message["id"] = asked.pop(message["id"])
        say(message)
    elif message["method"] == "$/cancel_request":
        withdrawn = message["params"]["requestId"]
        for own, theirs in asked.items():
            if theirs == withdrawn:
                say({"method": "$/cancel_request", "params": {"requestId": own}})
    elif "id" in message:
        asked[count] = message["id"]
        say({"id": count, **pass_on(message)})
        count += 1
    else:
        say(pass_on(message))

"""An agent that uses a tool of each kind in every turn: one of its own, with a permission request, and one of MCP,
which it calls as it was offered: over ACP, or with `BRIDGED` in its environment, by a program.

Everything that may hold a secret does: texts, titles, arguments, results and errors. There are two secrets: one that no
rule finds, and one that looks like a real key.
"""

import json
import os
import subprocess
import sys

SECRET = "sk-live-hunter2"
WORDS = f"{SECRET} AKIAIOSFODNN7EXAMPLQ"
BRIDGED = "BRIDGED" in os.environ
servers = []
asked = 0


def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(method, params):
    global asked
    asked += 1
    say({"id": f"ask-{asked}", "method": method, "params": params})
    while True:
        message = json.loads(sys.stdin.readline())
        if message.get("id") == f"ask-{asked}":
            return message.get("result")


def update(session, **update):
    say({"method": "session/update", "params": {"sessionId": session, "update": update}})


def turn(session):
    # The second secret is split.
    for text in WORDS[:25], WORDS[25:] + " and more":
        update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})
    call = {"toolCallId": "call-1", "title": f"cat {WORDS}", "kind": "execute", "status": "pending"}
    update(session, sessionUpdate="tool_call", rawInput={"command": WORDS}, **call)
    options = [
        {"optionId": SECRET, "name": SECRET, "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    ask("session/request_permission", {"sessionId": session, "toolCall": call, "options": options})
    update(
        session,
        sessionUpdate="tool_call_update",
        toolCallId="call-1",
        status="completed",
        rawOutput={"text": WORDS},
    )
    params = {"name": "look", "arguments": {"at": WORDS}}
    for server in servers:
        if BRIDGED:
            call_by_program(server, params)
            continue
        connection = ask("mcp/connect", {"acpId": server["id"], "serverId": server["id"]})["connectionId"]
        ask("mcp/message", {"connectionId": connection, "method": "tools/call", "params": params})


def call_by_program(server, params):
    env = {**os.environ, **{variable["name"]: variable["value"] for variable in server["env"]}}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen([server["command"], *server["args"]], env=env, **pipes) as program:

        def say(**message):
            program.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

        def ask(number, method, params):
            say(id=number, method=method, params=params)
            while json.loads(program.stdout.readline()).get("id") != number:
                pass

        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "busy", "version": "1"}}
        ask(1, "initialize", version)
        say(method="notifications/initialized")
        ask(2, "tools/call", params)
        program.stdin.close()


for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if "id" not in message or method is None:
        continue
    if method == "initialize":
        result = {
            "protocolVersion": 1,
            "agentInfo": {"name": "busy-agent", "version": "1.2"},
            "agentCapabilities": {"mcpCapabilities": {"acp": not BRIDGED}},
        }
    elif method == "session/new":
        servers = params["mcpServers"]
        result = {"sessionId": "sess-1"}
    elif method == "session/prompt":
        turn(params["sessionId"])
        result = {
            "stopReason": "end_turn",
            "usage": {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120},
            "_meta": {"said": WORDS, "heard": params.get("_meta")},
        }
    else:
        say({"id": message["id"], "error": {"code": -32601, "message": WORDS}})
        continue
    say({"id": message["id"], "result": result})

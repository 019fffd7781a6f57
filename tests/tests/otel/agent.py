"""An agent that uses a tool of each kind in every turn: one of its own, which it asks about, and one of MCP's.

Whatever may hold a secret does: the texts that it says, titles, arguments, results and errors.
"""

import json
import sys

SECRET = "sk-live-hunter2"
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
    update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": SECRET})
    call = {"toolCallId": "call-1", "title": f"cat {SECRET}", "kind": "execute", "status": "pending"}
    update(session, sessionUpdate="tool_call", rawInput={"command": SECRET}, **call)
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
        rawOutput={"text": SECRET},
    )
    for server in servers:
        connection = ask("mcp/connect", {"acpId": server["id"], "serverId": server["id"]})["connectionId"]
        params = {"name": "look", "arguments": {"at": SECRET}}
        ask("mcp/message", {"connectionId": connection, "method": "tools/call", "params": params})


for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if "id" not in message or method is None:
        continue
    if method == "initialize":
        result = {
            "protocolVersion": 1,
            "agentInfo": {"name": "busy-agent", "version": "1.2"},
            "agentCapabilities": {"mcpCapabilities": {"acp": True}},
        }
    elif method == "session/new":
        servers = params["mcpServers"]
        result = {"sessionId": "sess-1"}
    elif method == "session/prompt":
        turn(params["sessionId"])
        result = {
            "stopReason": "end_turn",
            "usage": {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120},
            "_meta": {"said": SECRET, "heard": params.get("_meta")},
        }
    else:
        say({"id": message["id"], "error": {"code": -32601, "message": SECRET}})
        continue
    say({"id": message["id"], "result": result})

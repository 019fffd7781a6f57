// Answers permission requests by rule: allows reading and searching, and forwards all others to the client.
package main

import (
	"encoding/json"

	"acp-chain/proxy"
)

// The kinds of tool calls (`ToolKind` of the protocol) that are allowed.
var allowed = map[string]bool{"read": true, "search": true}

type guard struct{ proxy.Passing }

func init() { proxy.Serve(guard{}) }

func (guard) Init(_, _ string) (proxy.Registration, error) {
	asked := proxy.Subscription{
		Method: "session/request_permission", Sender: proxy.FromAgent, Kinds: proxy.Requests, WithBody: true,
	}
	// Better no answer than a wrong one.
	return proxy.Registration{Subscriptions: []proxy.Subscription{asked}, OnFailure: proxy.Refuse, Guard: true}, nil
}

func (guard) OnRequest(request proxy.Request) (proxy.Action, error) {
	var asked struct {
		ToolCall struct{ Kind string }
		Options  []struct{ OptionID, Kind string }
	}
	if err := json.Unmarshal([]byte(request.Params), &asked); err != nil {
		return proxy.Forward(), err
	}
	for _, option := range asked.Options {
		if allowed[asked.ToolCall.Kind] && option.Kind == "allow_once" {
			outcome := map[string]string{"outcome": "selected", "optionId": option.OptionID}
			return proxy.Respond(map[string]any{"outcome": outcome})
		}
	}
	return proxy.Forward(), nil
}

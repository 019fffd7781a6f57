// Counts the tool calls of a turn, and shows the number at its end.
package main

import (
	"fmt"

	"acp-chain/proxy"
)

// The tool calls of each session since its last turn.
var calls = map[string]int{}

type observer struct{ proxy.Passing }

func init() { proxy.Serve(observer{}) }

func (observer) Init(_, _ string) (proxy.Registration, error) {
	updates := proxy.Subscription{Method: "session/update", Sender: proxy.FromAgent, Kinds: proxy.Notifications}
	turns := proxy.Subscription{Method: "session/prompt", Sender: proxy.FromAgent, Kinds: proxy.Responses}
	return proxy.Registration{Subscriptions: []proxy.Subscription{updates, turns}, OnFailure: proxy.Bypass}, nil
}

func (observer) OnNotification(update proxy.Notification) (proxy.Action, error) {
	var kind string
	if _, err := proxy.Read(update.ID, "/update/sessionUpdate", &kind); err != nil {
		return proxy.Forward(), err
	}
	if kind == "tool_call" {
		calls[update.Session]++
	}
	return proxy.Forward(), nil
}

func (observer) OnResponse(turn proxy.Response) (proxy.Action, error) {
	count := calls[turn.Session]
	if count == 0 {
		return proxy.Forward(), nil
	}
	delete(calls, turn.Session)
	noun := "tool calls"
	if count == 1 {
		noun = "tool call"
	}
	text := fmt.Sprintf("\n\n**%s**: %d %s in this turn.\n\n", proxy.ID(), count, noun)
	content := map[string]string{"type": "text", "text": text}
	update := map[string]any{"sessionUpdate": "agent_message_chunk", "content": content}
	params := map[string]any{"sessionId": turn.Session, "update": update}
	return proxy.Forward(), proxy.Notify(proxy.Client, "session/update", params)
}

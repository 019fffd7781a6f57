// Asks the agent for brief answers.
package main

import "acp-chain/proxy"

type brief struct{ proxy.Passing }

func init() { proxy.Serve(brief{}) }

func (brief) Init(_, _ string) (proxy.Registration, error) {
	prompts := proxy.Subscription{Method: "session/prompt", Sender: proxy.FromClient, Kinds: proxy.Requests}
	// If the proxy breaks, prompts are forwarded unchanged.
	return proxy.Registration{Subscriptions: []proxy.Subscription{prompts}, OnFailure: proxy.Bypass}, nil
}

func (brief) OnRequest(proxy.Request) (proxy.Action, error) {
	return proxy.Edit("/prompt/-", map[string]string{"type": "text", "text": "Be brief."})
}

// Package tools is for proxies whose world exports tools.
package tools

import "encoding/json"

// A Tool of MCP. The schema is an object, as JSON.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations map[string]any  `json:"annotations,omitempty"`
}

// A Call of a tool. While the agent has not said yet what it calls its session, that is empty.
type Call struct {
	ID        uint64
	Session   string
	Name      string
	Arguments string
}

// A Provider has tools. What a call gives is a CallToolResult of MCP; a nil one says that the call is settled
// later. An error is one of the protocol, and the model may never see it.
type Provider interface {
	Tools(session string) ([]Tool, error)
	Call(Call) (any, error)
}

// Served has the tools of this program.
var Served Provider

// Serve says who has them; called from an `init`.
func Serve(provider Provider) { Served = provider }

// Text is what a tool gives, as a text.
func Text(text string) any {
	return map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}}
}

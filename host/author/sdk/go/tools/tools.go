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

// A Call of a tool. Session is empty until the agent has named it.
type Call struct {
	ID        uint64
	Session   string
	Name      string
	Arguments string
}

// A Provider has tools. A call returns a CallToolResult of MCP, or nil if it is settled later. An error is a
// protocol error, which the model may never see.
type Provider interface {
	Tools(session string) ([]Tool, error)
	Call(Call) (any, error)
}

// Served has the tools of this program.
var Served Provider

// Serve sets the provider of this program's tools; call it from an `init`.
func Serve(provider Provider) { Served = provider }

// Text is a tool's result, as a text.
func Text(text string) any {
	return map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}}
}

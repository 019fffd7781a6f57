// Gives the agent a tool that counts words.
package main

import (
	"encoding/json"
	"strconv"
	"strings"

	"acp-chain/proxy/tools"
)

const schema = `{
	"type": "object",
	"properties": {"text": {"type": "string", "description": "The text whose words are counted."}},
	"required": ["text"]
}`

type words struct{}

// Serves no handler, and so receives no messages.
func init() { tools.Serve(words{}) }

func (words) Tools(string) ([]tools.Tool, error) {
	return []tools.Tool{{
		Name:        "count_words",
		Description: "Counts the words of a text: what stands between spaces and line breaks.",
		InputSchema: json.RawMessage(schema),
		Annotations: map[string]any{"readOnlyHint": true, "openWorldHint": false},
	}}, nil
}

// acp-chain checks the arguments against the schema, and calls no other tool.
func (words) Call(call tools.Call) (any, error) {
	var arguments struct{ Text string }
	if err := json.Unmarshal([]byte(call.Arguments), &arguments); err != nil {
		return nil, err
	}
	return tools.Text(strconv.Itoa(len(strings.Fields(arguments.Text)))), nil
}

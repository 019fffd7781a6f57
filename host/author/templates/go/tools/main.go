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

// It serves no handler, and so sees no message.
func init() { tools.Serve(words{}) }

func (words) Tools(string) ([]tools.Tool, error) {
	return []tools.Tool{{
		Name:        "count_words",
		Description: "Counts the words of a text: what stands between spaces and line breaks.",
		InputSchema: json.RawMessage(schema),
		Annotations: map[string]any{"readOnlyHint": true, "openWorldHint": false},
	}}, nil
}

// The arguments fit the schema, and no other tool is called: acp-chain sees to both.
func (words) Call(call tools.Call) (any, error) {
	var arguments struct{ Text string }
	if err := json.Unmarshal([]byte(call.Arguments), &arguments); err != nil {
		return nil, err
	}
	return tools.Text(strconv.Itoa(len(strings.Fields(arguments.Text)))), nil
}

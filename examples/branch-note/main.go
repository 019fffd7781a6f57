// Adds the git branch to the first prompt of a session, and again whenever it has changed.
package main

import (
	"encoding/json"
	"strings"

	"acp-chain/proxy"
)

// A prompt that is held until the client has sent the file.
type waiting struct {
	prompt  proxy.MessageID
	session string
}

var (
	asked   = map[proxy.MessageID]string{}  // the folders of unanswered session requests, by request
	folders = map[string]string{}           // the folders of sessions
	told    = map[string]string{}           // the branch last added in each session
	files   = map[proxy.MessageID]waiting{} // the held prompts, by request for the file
)

type note struct{ proxy.Passing }

func init() { proxy.Serve(note{}) }

func (note) Init(_, _ string) (proxy.Registration, error) {
	var all []proxy.Subscription
	for _, method := range []string{"session/new", "session/load", "session/resume"} {
		all = append(all,
			proxy.Subscription{Method: method, Sender: proxy.FromClient, Kinds: proxy.Requests},
			proxy.Subscription{Method: method, Sender: proxy.FromAgent, Kinds: proxy.Responses})
	}
	all = append(all, proxy.Subscription{Method: "session/prompt", Sender: proxy.FromClient, Kinds: proxy.Requests})
	return proxy.Registration{Subscriptions: all, OnFailure: proxy.Bypass}, nil
}

func (note) OnRequest(request proxy.Request) (proxy.Action, error) {
	if request.Method != "session/prompt" {
		var folder string
		_, err := proxy.Read(request.ID, "/cwd", &folder)
		asked[request.ID] = folder
		return proxy.Forward(), err
	}
	folder := folders[request.Session]
	if folder == "" {
		return proxy.Forward(), nil
	}
	params := map[string]string{"sessionId": request.Session, "path": folder + "/.git/HEAD"}
	file, err := proxy.Ask(proxy.Client, "fs/read_text_file", params)
	if err != nil {
		return proxy.Forward(), err
	}
	files[file] = waiting{request.ID, request.Session}
	return proxy.Hold(), nil
}

func (note) OnResponse(response proxy.Response) (proxy.Action, error) {
	if held, ok := files[response.ID]; ok {
		delete(files, response.ID)
		return proxy.Forward(), settle(held, response)
	}
	if folder, ok := asked[response.ID]; ok {
		delete(asked, response.ID)
		if response.Err == nil {
			folders[response.Session] = folder
		}
	}
	return proxy.Forward(), nil
}

// Settles a held prompt. Without the file, or if the branch is unchanged, the prompt is forwarded unchanged.
func settle(held waiting, response proxy.Response) error {
	var file struct{ Content string }
	if response.Err == nil {
		// A result that cannot be parsed has no branch.
		_ = json.Unmarshal([]byte(response.Result), &file)
	}
	branch, found := strings.CutPrefix(strings.TrimSpace(file.Content), "ref: refs/heads/")
	if !found || told[held.session] == branch {
		return proxy.Settle(held.prompt, proxy.Forward())
	}
	block := map[string]string{"type": "text", "text": "The git branch is " + branch + "."}
	action, err := proxy.Edit("/prompt/-", block)
	if err == nil {
		err = proxy.Settle(held.prompt, action)
	}
	if err != nil {
		// A prompt that cannot be edited is forwarded unchanged.
		return proxy.Settle(held.prompt, proxy.Forward())
	}
	told[held.session] = branch
	return nil
}

// Cancels the request for the file with its prompt.
func (passing note) OnCancel(id proxy.MessageID) error {
	for file, held := range files {
		if held.prompt == id {
			delete(files, file)
			_ = proxy.Cancel(file)
		}
	}
	return passing.Passing.OnCancel(id)
}

// The SDK for proxies in C. The defaults of handlers are in `acp_chain.c`: they forward every message,
// and reject cancelled messages.
#ifndef ACP_CHAIN_H
#define ACP_CHAIN_H

#include "json.h"

// Subscribes to messages; called once for each kind of message, from `init`.
void subscribe(acp_registration_t *registration, const char *method, acp_sender_t sender, acp_kinds_t kinds,
               bool with_body);

// Forwards the message unchanged.
acp_action_t forward(void);

// Forwards the message with this JSON at a JSON Pointer. A last part `-` adds to an array.
acp_action_t edit(const char *pointer, const char *json);

// Answers the request with this JSON, which is freed for you, instead of forwarding it.
acp_action_t respond(proxy_string_t json);

// Sets `is` to whether this JSON, or this text in another spelling, is at a JSON Pointer of a message without its body.
// False if the host denies reading it, with the reason in `err`: a handler that cannot decide without it returns false,
// too.
bool body_is(acp_message_id_t id, const char *pointer, span json, bool *is, proxy_string_t *err);

// A text as a JSON string.
proxy_string_t quote(span text);

// Sends a notification to a neighbour. False if the host rejects it, with the reason in `err`.
bool notify(acp_peer_t to, const char *method, span json, proxy_string_t *err);

#endif

// What proxies in C have in common. Handlers that a proxy leaves out are in `acp_chain.c`: they let
// every message pass, and give up what is withdrawn.
#ifndef ACP_CHAIN_H
#define ACP_CHAIN_H

#include "json.h"

// Says what the proxy wants to see; called once for each kind of message, from `init`.
void subscribe(acp_registration_t *registration, const char *method, acp_sender_t sender, acp_kinds_t kinds,
               bool with_body);

// The message goes on unchanged.
acp_action_t forward(void);

// The message goes on with this JSON at a JSON Pointer. A last part `-` adds to an array.
acp_action_t edit(const char *pointer, const char *json);

// The request is answered with this JSON, which is freed for you, and goes no further.
acp_action_t respond(proxy_string_t json);

// Says in `is` whether this JSON, or this text in another spelling, is at a JSON Pointer of a message that came without its body. False if the host does
// not let it be read, and why is in `err`: a handler that cannot decide without it returns false, too.
bool body_is(acp_message_id_t id, const char *pointer, span json, bool *is, proxy_string_t *err);

// A text as a JSON string.
proxy_string_t quote(span text);

// Tells a neighbour. False if the host does not let it.
bool notify(acp_peer_t to, const char *method, span json);

#endif

// The JSON functions that a proxy needs: they find values in a text, and build texts.
//
// A `span` is a part of a JSON text and owns nothing. The functions require valid JSON, which the
// host guarantees; a missing span has the length 0.
#ifndef JSON_H
#define JSON_H

#include "proxy.h"

typedef proxy_string_t span;

// The span of a string constant.
#define SPAN(literal) ((span){(uint8_t *)(literal), sizeof(literal) - 1})

// Allocates memory, or traps: address 0 is ordinary memory in WebAssembly, and would be written to.
void *allocate(size_t size);
void *reallocate(void *memory, size_t size);

bool span_is(span s, span other);

// Whether this is a JSON string with this text, in any spelling.
bool json_is(span string, span text);

// The value of a member of an object, or nothing. Names are compared independently of their spelling; of two members
// with the same name, the last counts.
span json_member(span object, span name);

// Iterates over an array: sets `element` to the next one, or to the first if it is empty. False at the end.
bool json_next(span array, span *element);

// Writes a number so that it ends at `end`; it has 10 digits at most.
span decimal(unsigned number, uint8_t *end);

// A JSON string with the ASCII letters as capitals.
proxy_string_t json_shout(span string);

// A new text, concatenated from others.
proxy_string_t json_concat(size_t count, const span *parts);
#define CONCAT(...) \
  json_concat(sizeof((span[]){__VA_ARGS__}) / sizeof(span), (span[]){__VA_ARGS__})

#endif

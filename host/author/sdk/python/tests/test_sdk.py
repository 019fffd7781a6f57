"""The SDK with a mock of the host: `wit_world` is from componentize-py, and its channel records
its calls. Run with `python3 -m unittest`, with the bindings and the SDK in `PYTHONPATH`."""

import json
import typing
import unittest
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict, Union
from unittest import mock

from componentize_py_types import Err, Ok
from wit_world import exports
from wit_world.imports import calls, channel, types

CALLS: list[tuple[Any, ...]] = []


def play(name):
    def call(*args):
        CALLS.append((name, *args))
        if name in ("request", "ask_caller", "wake_after", "load_value", "store_value"):
            return 100 + len(CALLS)
        if name == "call_meta":
            return '{"a":1}'

    setattr(channel, name, call)


for name in (
    "request",
    "ask_caller",
    "notify",
    "settle",
    "fail",
    "cancel",
    "wake_after",
    "load_value",
    "store_value",
    "save",
    "report_progress",
    "call_meta",
    "log",
):
    play(name)

import acp_chain  # noqa: E402
from acp_chain import (  # noqa: E402
    Call,
    Cancelled,
    Proxy,
    RpcError,
    agent,
    client,
    gather,
    put,
    reject,
    respond,
    sleep,
    values,
)
from acp_chain import _schema  # noqa: E402
from acp_chain._resources import Resource  # noqa: E402


def head(id=1, method="m", sender=types.Peer.CLIENT):
    return types.Head(id, sender, method, "s", 2)


def called(name):
    return [call[1:] for call in CALLS if call[0] == name]


def refused(name, code):
    """The host rejects calls of this function."""
    error = acp_chain.ChannelError(channel.ChannelError(code, "refused"))
    return mock.patch(f"acp_chain._wit.{name}", side_effect=error)


class Played(unittest.TestCase):
    def setUp(self):
        CALLS.clear()
        self.proxy = Proxy()

    def start(self, config="{}", saved=None):
        self.handler = self.proxy.Handler()
        return self.handler.init(config, saved)

    def request(self, id=1, method="m", params="{}"):
        return self.handler.on_request(types.Request(head(id, method), params))

    def answer(self, id, outcome):
        return self.handler.on_response(types.Response(head(id, "asked"), outcome))


class Handlers(Played):
    def test_each_handler_is_a_subscription(self):
        self.proxy.on_request("a/*", sender="agent", body=False)(lambda message: None)
        self.proxy.on_response("b")(lambda message: None)
        registered = self.start()
        self.assertEqual(
            registered.subscriptions,
            [
                types.Subscription("a/*", types.Sender.AGENT, types.Kinds.REQUEST, False),
                types.Subscription("b", types.Sender.ANY, types.Kinds.RESPONSE, True),
            ],
        )

    def test_the_first_handler_that_matches_gets_a_message(self):
        self.proxy.on_request("m", sender="agent")(lambda message: respond(1))
        self.proxy.on_request("m*")(lambda message: respond(2))
        self.proxy.on_request("m")(lambda message: respond(3))
        self.start()
        self.assertEqual(self.request(), types.Action_Respond("2"))
        self.assertEqual(self.request(method="n"), types.Action_Forward())

    def test_what_is_no_pattern_sender_or_policy_is_told_at_once(self):
        for wrong in (
            lambda: self.proxy.on_request("a*b"),
            lambda: self.proxy.on_request("a", sender="editor"),
            lambda: Proxy(on_failure="ignore"),
        ):
            with self.assertRaises(ValueError):
                wrong()

    def test_what_was_saved_comes_to_on_start(self):
        came = []
        self.proxy.on_start(lambda config, saved: came.append((config, saved)))
        self.start('{"a":1}', "[2]")
        self.assertEqual(came, [({"a": 1}, [2])])

    def test_an_error_has_its_place_and_the_log_all_of_it(self):
        @self.proxy.on_request("m")
        def handler(message):
            raise KeyError("prompt")

        self.start()
        with self.assertRaises(Err) as raised:
            self.request()
        self.assertRegex(raised.exception.value, r"^KeyError: 'prompt' \(test_sdk.py:\d+, in handler\)$")
        [(level, text)] = called("log")
        self.assertEqual(level, channel.Level.ERROR)
        self.assertIn('raise KeyError("prompt")', text)

    def test_what_is_nested_too_deeply_is_an_error(self):
        self.proxy.on_request("m")(lambda message: respond(len(message.params)))
        self.start()
        flat = json.dumps([[{}], "[" * 1000, '\\"' + "{" * 1000] + [[]] * 1000)
        self.assertEqual(self.request(params=flat), types.Action_Respond("1003"))
        with self.assertRaises(Err) as raised:
            self.request(params="[" * 100_000 + "]" * 100_000)
        self.assertIn("JSON is nested more than 500 levels deep", raised.exception.value)

    def test_half_a_surrogate_pair_stays_json(self):
        self.proxy.on_request("m")(lambda message: respond(message.params))
        self.start()
        self.assertEqual(self.request(params='"\\ud800"'), types.Action_Respond('"\\ud800"'))

    def test_half_a_surrogate_pair_is_told_as_a_question_mark(self):
        @self.proxy.on_request("m")
        def handler(message):
            raise ValueError(f"no {message.params}")

        self.start()
        with self.assertRaises(Err) as raised:
            self.request(params='"\\ud800"')
        self.assertRegex(raised.exception.value, r"^ValueError: no \? \(")
        [(_, logged)] = called("log")
        self.assertIn("ValueError: no ?", logged)
        self.assertEqual(reject(1, "no \ud800").value.message, "no ?")
        Call(5, "s").progress(1, message="no \ud800")
        self.assertEqual(called("report_progress"), [(5, 1, None, "no ?")])

    def test_what_half_a_surrogate_pair_names_is_an_error(self):
        for wrong in (
            lambda: put("/\ud800", 1),
            lambda: client.notify("\ud800"),
            lambda: acp_chain.resource_changed("notes:/\ud800"),
        ):
            with self.assertRaises(UnicodeEncodeError):
                wrong()


class Waiting(Played):
    def setUp(self):
        super().setUp()
        self.ended = []

        @self.proxy.on_request("m")
        async def handler(message):
            try:
                return [put("/a", await client.request("ask", message.params))]
            finally:
                self.ended.append(message.method)

        self.start()

    def test_a_handler_that_waits_holds_and_settles(self):
        self.assertEqual(self.request(), types.Action_Hold())
        self.assertEqual(called("request"), [(types.Peer.CLIENT, "ask", "{}")])
        self.answer(101, Ok("7"))
        self.assertEqual(called("settle"), [(1, types.Action_Edit([put("/a", 7)]))])
        # Another response does not answer the proxy's own request.
        self.assertEqual(self.answer(101, Ok("7")), types.Action_Forward())

    def test_an_error_that_is_not_caught_gives_the_message_up(self):
        self.request()
        self.answer(101, Err(types.RpcError(5, "no", '{"b":1}')))
        [(id, reason)] = called("fail")
        self.assertEqual(id, 1)
        self.assertRegex(reason, r"^acp_chain\._messages\.RpcError: no \(5\) \(test_sdk.py:\d+, in handler\)$")

    def test_an_error_has_its_data_however_deep_it_is(self):
        @self.proxy.on_request("n")
        async def handler(message):
            try:
                await client.request("ask")
            except RpcError as error:
                return respond(error.data)

        self.request(method="n")
        deep = "[" * 501 + "]" * 501
        self.answer(101, Err(types.RpcError(5, "no", deep)))
        self.assertEqual(called("settle"), [(1, types.Action_Respond(json.dumps(deep)))])

    def test_a_settlement_that_is_refused_gives_the_message_up(self):
        self.request()
        with refused("settle", channel.ErrorCode.FULL):
            self.answer(101, Ok("7"))
        self.assertEqual(called("fail"), [(1, "refused")])

    def test_one_that_the_host_has_taken_back_is_not_given_up(self):
        self.request()
        with refused("settle", channel.ErrorCode.UNKNOWN_MESSAGE):
            self.answer(101, Ok("7"))
        self.assertEqual(called("fail"), [])

    def test_one_that_sleeps_is_settled_when_it_is_called_again(self):
        @self.proxy.on_request("n")
        async def handler(message):
            await sleep(0.25)
            return respond("late")

        self.request(method="n")
        self.assertEqual(called("wake_after"), [(250,)])
        self.assertEqual(called("settle"), [])
        self.answer(101, Ok("null"))
        [(id, action)] = called("settle")
        self.assertEqual((id, action.value), (1, '"late"'))

    def test_one_that_is_withdrawn_withdraws_what_it_asked_for(self):
        self.request()
        self.handler.on_cancel(1)
        self.assertEqual(called("cancel"), [(101,)])
        self.assertEqual(self.ended, ["m"])
        [(id, action)] = called("settle")
        self.assertEqual((id, action.value.code), (1, -32800))
        self.assertEqual(self.answer(101, Ok("0")), types.Action_Forward())
        self.assertEqual(len(called("settle")), 1)

    def test_one_that_waits_again_when_it_is_withdrawn_is_settled_when_it_ends(self):
        @self.proxy.on_request("n")
        async def handler(message):
            try:
                await agent.request("ask")
            except Cancelled:
                return respond(await agent.request("tidy"))

        self.request(method="n")
        self.handler.on_cancel(1)
        self.assertEqual(called("settle"), [])
        id = 100 + 1 + next(n for n, call in enumerate(CALLS) if call[2:3] == ("tidy",))
        self.answer(id, Ok("1"))
        self.assertEqual(called("settle"), [(1, types.Action_Respond("1"))])

    def test_several_are_waited_for_at_once(self):
        @self.proxy.on_request("n")
        async def handler(message):
            return respond(await gather(client.request("a"), agent.request("b")))

        self.assertEqual(self.request(method="n"), types.Action_Hold())
        self.answer(102, Ok("2"))
        self.assertEqual(called("settle"), [])
        self.answer(101, Ok("1"))
        self.assertEqual(called("settle"), [(1, types.Action_Respond("[1,2]"))])

    def test_nothing_is_waited_for_when_nothing_waits(self):
        async def now():
            return 1

        @self.proxy.on_request("n")
        async def handler(message):
            return respond(await gather(now(), now()))

        self.assertEqual(self.request(method="n"), types.Action_Respond("[1,1]"))
        self.assertEqual(CALLS, [])

    def test_when_one_of_several_fails_the_others_are_withdrawn(self):
        @self.proxy.on_request("n")
        async def handler(message):
            try:
                await gather(client.request("a"), agent.request("b"))
            except RpcError as error:
                return respond(error.code)

        self.request(method="n")
        self.answer(102, Err(types.RpcError(9, "no", None)))
        self.assertEqual(called("cancel"), [(101,)])
        self.assertEqual(called("settle"), [(1, types.Action_Respond("9"))])


class Values(Played):
    def setUp(self):
        super().setUp()
        self.result = None

    def run_handler(self, make, *answers):
        """Runs a coroutine in a handler, whose requests get these answers."""

        @self.proxy.on_request("m")
        async def handler(message):
            self.result = await make()

        self.start()
        self.request()
        for answer in answers:
            self.answer(100 + len(CALLS), Ok(json.dumps(answer)) if isinstance(answer, dict) else answer)

    def test_a_value_is_loaded(self):
        self.run_handler(lambda: values.load("user", "k"), {"value": "a", "version": 3, "since": "2026"})
        self.assertEqual(self.result, values.Value("a", 3, "2026"))
        self.assertEqual(called("load_value"), [(channel.Keeper_User(), "k")])

    def test_a_value_of_a_project_is_stored(self):
        self.run_handler(lambda: values.store(values.Project("s"), "k", 3, "b"), {"version": 4})
        self.assertEqual(self.result, 4)
        self.assertEqual(called("store_value"), [(channel.Keeper_Project("s"), "k", 3, "b")])

    def test_another_value_is_a_conflict(self):
        other = {"conflict": {"value": None, "version": 0, "since": None}}
        self.run_handler(lambda: values.store("user", "k", 3, None), other)
        self.assertEqual(self.result, values.Value(None, 0, None))

    def test_an_update_begins_again_with_another_value(self):
        def add(value):
            return str(int(value or 0) + 1)

        self.run_handler(
            lambda: values.update("user", "k", add),
            {"value": None, "version": 0, "since": None},
            {"conflict": {"value": "5", "version": 8, "since": "2026"}},
            {"version": 9},
        )
        self.assertEqual(self.result, values.Value("6", 9, "2026"))
        self.assertEqual([call[1:] for call in called("store_value")], [("k", 0, "1"), ("k", 8, "6")])

    def test_an_update_gives_up_after_64_conflicts(self):
        loaded = {"value": "a", "version": 1, "since": "2026"}
        self.run_handler(lambda: values.update("user", "k", lambda value: "b"), loaded, *[{"conflict": loaded}] * 64)
        [(_, reason)] = called("fail")
        self.assertIn("'k' is not stored: other connections have changed it 64 times (-32603)", reason)

    def test_an_unchanged_value_is_not_stored(self):
        loaded = {"value": "a", "version": 1, "since": "2026"}
        self.run_handler(lambda: values.update("user", "k", lambda value: value), loaded)
        self.assertEqual(self.result, values.Value("a", 1, "2026"))
        self.assertEqual(called("store_value"), [])

    def test_a_failure_is_raised(self):
        self.run_handler(lambda: values.load("user", "k"), Err(types.RpcError(-32603, "the disk is full", None)))
        [(_, reason)] = called("fail")
        self.assertIn("RpcError: the disk is full (-32603)", reason)

    def test_what_keeps_no_values_and_what_is_no_text_is_an_error(self):
        for make, expected in [
            (lambda: values.load("us", "k"), 'use "user" or values.Project'),
            (lambda: values.load(values.Project("\ud800"), "k"), "UnicodeEncodeError"),
            (lambda: values.store("user", "k", 0, "\ud800"), "UnicodeEncodeError"),
        ]:
            with self.assertRaises(Err) as raised:
                self.run_handler(make)
            self.assertIn(expected, raised.exception.value)
            self.proxy = Proxy()


class Point(TypedDict):
    x: int
    y: NotRequired[float]


@dataclass
class Shape:
    """A shape."""

    name: Annotated[str, "What it is called."]
    points: list[Point] = field(default_factory=list)


@dataclass
class Span:
    start: int
    end: int

    def __post_init__(self):
        if self.start > self.end:
            raise ValueError("start after end")


class Tools(Played):
    def setUp(self):
        super().setUp()
        self.tools = self.proxy.Tools()

    def listed(self):
        return [json.loads(tool) for tool in self.tools.list_tools("s").tools]

    def call(self, **arguments):
        name = self.listed()[0]["name"]
        done = self.tools.call_tool(exports.tools.ToolCall(5, "s", name, json.dumps(arguments)))
        return json.loads(done.value) if isinstance(done, calls.Outcome_Done) else done

    def test_the_schema_is_that_of_the_types(self):
        @self.proxy.tool(read_only=True, destructive=False)
        def draw(
            shape: Shape,
            how: Literal["thin", "thick"] = "thin",
            scale: Optional[float] = None,
            tags: dict[str, Union[int, list[str]]] = {},
        ) -> Point:
            """Draws it."""
            return {"x": len(shape.points)}

        [tool] = self.listed()
        self.assertEqual((tool["name"], tool["description"]), ("draw", "Draws it."))
        self.assertEqual(tool["annotations"], {"readOnlyHint": True, "destructiveHint": False})
        point = {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "number"}},
            "required": ["x"],
            "additionalProperties": False,
        }
        self.assertEqual(tool["outputSchema"], point)
        name = {"type": "string", "description": "What it is called."}
        shape = {
            "type": "object",
            "properties": {"name": name, "points": {"type": "array", "items": point}},
            "required": ["name"],
            "additionalProperties": False,
            "description": "A shape.",
        }
        strings = {"type": "array", "items": {"type": "string"}}
        tags = {"type": "object", "additionalProperties": {"anyOf": [{"type": "integer"}, strings]}}
        self.assertEqual(
            tool["inputSchema"],
            {
                "type": "object",
                "properties": {
                    "shape": shape,
                    "how": {"enum": ["thin", "thick"], "default": "thin"},
                    "scale": {"type": ["number", "null"], "default": None},
                    "tags": tags,
                },
                "required": ["shape"],
                "additionalProperties": False,
            },
        )
        result = self.call(shape={"name": "a", "points": [{"x": 1.0}]}, scale=2)
        self.assertEqual(result["structuredContent"], {"x": 1})

    def test_what_does_not_fit_is_named(self):
        @self.proxy.tool
        def draw(shape: Shape, count: int = 1) -> str:
            return "drawn"

        for arguments, said in (
            ({}, "shape is missing"),
            ({"shape": {"name": 1}}, "shape.name must be a string"),
            ({"shape": {"name": "a", "points": [{"x": True}]}}, "shape.points[0].x must be an integer"),
            ({"shape": {"name": "a"}, "size": 1}, "size is not known: there are shape, count"),
        ):
            content = [{"type": "text", "text": said}]
            self.assertEqual(self.call(**arguments), {"content": content, "isError": True})

    def test_what_an_argument_raises_is_the_failure_of_its_tool(self):
        @self.proxy.tool
        def cut(span: Span) -> str:
            return "cut"

        self.start()
        content = [{"type": "text", "text": "start after end"}]
        self.assertEqual(self.call(span={"start": 2, "end": 1}), {"content": content, "isError": True})

    def test_a_second_tool_of_a_name_is_told_when_it_is_loaded(self):
        def twice() -> str:
            return ""

        self.proxy.tool(twice)
        with self.assertRaisesRegex(TypeError, "the tool twice: there is one already"):
            self.proxy.tool(twice)

    def test_a_session_has_what_is_for_it(self):
        @self.proxy.tool(when=lambda session: {"s": True, "t": False}[session])
        def mine() -> str:
            return ""

        self.start()
        self.assertEqual([tool["name"] for tool in self.listed()], ["mine"])
        self.assertEqual(self.tools.list_tools("t").tools, [])
        with self.assertRaises(Err) as raised:
            self.tools.list_tools("u")
        self.assertRegex(raised.exception.value, r"^KeyError: 'u' \(test_sdk.py:")

    def test_what_has_no_schema_is_told_when_it_is_loaded(self):
        @dataclass
        class Tree:
            children: list["Tree"]

        typing.cast(Any, Tree).__annotations__["children"] = list[Tree]
        for hint, said in ((set, "has no JSON Schema"), (Tree, "contains itself"), (dict[int, str], "has no")):
            with self.assertRaisesRegex(TypeError, said):
                _schema.of(hint)

        with self.assertRaisesRegex(TypeError, "the tool of: its parameter many: "):

            @self.proxy.tool
            def of(many: set[int]) -> str:
                return ""

    def test_a_call_tells_and_asks(self):
        @self.proxy.tool
        async def greet(call: Call, loud: bool) -> str:
            call.progress(1, 2, "asking")
            answer = await call.ask("elicitation/create", {"message": "Who?"})
            return f"{answer['name']} {call.session} {call.meta} {loud}"

        self.start()
        self.assertEqual(self.call(loud=True), calls.Outcome_Pending())
        self.assertEqual(CALLS[0], ("report_progress", 5, 1, 2, "asking"))
        self.assertEqual(CALLS[1], ("ask_caller", 5, "elicitation/create", '{"message":"Who?"}'))
        self.answer(102, Ok('{"name":"me"}'))
        [(id, action)] = called("settle")
        self.assertEqual((id, json.loads(action.value)["content"][0]["text"]), (5, "me s {'a': 1} True"))

    def test_a_call_knows_what_its_caller_can(self):
        meta = '{"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}'
        with mock.patch("acp_chain._wit.meta", return_value=meta):
            self.assertTrue(Call(5, "s").can("roots"))
            self.assertFalse(Call(5, "s").can("sampling"))
        self.assertFalse(Call(5, "s").can("roots"))

    def test_a_call_goes_on_without_its_progress(self):
        @self.proxy.tool
        def count(call: Call) -> str:
            call.progress(1)
            return "counted"

        self.start()
        with refused("progress", channel.ErrorCode.FULL):
            self.assertEqual(self.call(), {"content": [{"type": "text", "text": "counted"}]})

    def test_a_completion_that_cannot_be_read_is_an_error(self):
        self.start()
        deep = '{"type":"ref/prompt","name":"a","x":' + "[" * 501 + "]" * 501 + "}"
        asked = SimpleNamespace(id=5, session="s", reference=deep, argument="b", value="", context="{}")
        with self.assertRaises(Err) as raised:
            self.proxy.Completion.complete(asked)
        self.assertIn("JSON is nested more than 500 levels deep", raised.exception.value.message)


class Templates(unittest.TestCase):
    def test_a_variable_has_no_slash_however_it_is_spelt(self):
        note = Resource(lambda name: name, "notes:/{name}")
        self.assertEqual(note.variables("notes:/a%20b"), {"name": "a b"})
        self.assertIsNone(note.variables("notes:/a%2Fb"))
        file = Resource(lambda path: path, "files:/{+path}")
        self.assertEqual(file.variables("files:/a%2Fb"), {"path": "a/b"})
        self.assertEqual(Resource(lambda: "", "notes:/all").variables("notes:/all"), {})


if __name__ == "__main__":
    unittest.main()

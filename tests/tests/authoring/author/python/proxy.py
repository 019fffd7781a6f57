"""All proxies of the tests in one component, which is built and compiled no longer than one of them alone: the
configuration names the proxy. Without a name, it is `tools`."""

import json

import cases
import guard
import observer
import offers
import prompt
import reference
import tools
from acp_chain import _wit

PROXIES = {module.__name__: module.proxy for module in (cases, guard, observer, offers, prompt, reference, tools)}


class Named:
    """The proxy that the configuration names."""

    def _start(self, config, saved):
        settings = json.loads(config)
        self.proxy = PROXIES[settings.pop("proxy", "tools")]
        return self.proxy._start(json.dumps(settings), saved)

    def __getattr__(self, name):
        return getattr(self.proxy, name)


named = Named()
Handler, Tools = _wit.Handler(named), _wit.Tools(named)
Resources, Prompts, Completion = _wit.Resources(named), _wit.Prompts(named), _wit.Completion(named)

do
  local launch = { @LAUNCH@ }
  -- The agents that get a chain, by their programs; without any, all of them.
  local programs = {@PROGRAMS@}

  local function name(program)
    return program:match("[^/\\]+$")
  end

  local function leave(plugin, why)
    vim.schedule(function()
      local told = "acp-chain: an agent of %s is launched without a chain: %s"
      vim.notify_once(told:format(plugin, why), vim.log.levels.WARN)
    end)
  end

  local function behind_chain(plugin, command)
    if type(command) == "function" then
      return function(...)
        return behind_chain(plugin, command(...))
      end
    end
    local program = type(command) == "table" and command[1]
    if type(program) == "string" then
      program = name(program)
      if program == name(launch[1]) or (#programs > 0 and not vim.tbl_contains(programs, program)) then
        return command
      end
    elseif type(program) ~= "function" then
      leave(plugin, "its command is not a list")
      return command
    elseif #programs > 0 then
      leave(plugin, "the program of its command is a function")
      return command
    end
    return vim.list_extend(vim.deepcopy(launch), command)
  end

  -- An agent that is a program with arguments, and is launched with no other environment than its own.
  local function with_program(plugin, config)
    if type(config) ~= "table" or not config.command then
      return config
    end
    if type(config.command) ~= "string" then
      leave(plugin, "its command is not text")
      return config
    end
    local command = behind_chain(plugin, vim.list_extend({ config.command }, config.args or {}))
    -- Where the user's own chain and extensions are.
    local env = vim.deepcopy(config.env or {})
    for _, folder in ipairs({ "CACHE_HOME", "CONFIG_HOME", "DATA_HOME", "RUNTIME_DIR", "STATE_HOME" }) do
      local variable = "XDG_" .. folder
      env[variable] = env[variable] or vim.env[variable]
    end
    local args = vim.list_slice(command, 2)
    return vim.tbl_extend("force", config, { command = command[1], args = args, env = env })
  end

  -- Does something with a module as soon as it is loaded, or now.
  local function with(module, change)
    if package.loaded[module] then
      change(package.loaded[module])
      return
    end
    package.preload[module] = function()
      package.preload[module] = nil
      package.loaded[module] = nil
      local loaded = require(module)
      change(loaded)
      return loaded
    end
  end

  with("codecompanion.acp", function(acp)
    local new = acp.new
    acp.new = function(args, ...)
      if args and args.adapter and type(args.adapter.commands) == "table" then
        local adapter = vim.deepcopy(args.adapter)
        for key, command in pairs(adapter.commands) do
          adapter.commands[key] = behind_chain("CodeCompanion", command)
        end
        args = vim.tbl_extend("force", args, { adapter = adapter })
      end
      return new(args, ...)
    end
  end)

  with("avante.libs.acp_client", function(client)
    local new = client.new
    client.new = function(self, config, ...)
      return new(self, with_program("avante", config), ...)
    end
  end)

  with("agentic.acp.acp_transport", function(transport)
    local create = transport.create_stdio_transport
    transport.create_stdio_transport = function(config, ...)
      return create(with_program("agentic.nvim", config), ...)
    end
  end)
end

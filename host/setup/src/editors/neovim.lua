do
  local launch = { @LAUNCH@ }
  -- The agents that get a chain, by their programs; without any, all of them.
  local programs = {@PROGRAMS@}

  local function name(program)
    return program:match("[^/\\]+$")
  end

  local function behind_chain(command)
    if type(command) ~= "table" or type(command[1]) ~= "string" then
      return command
    end
    local program = name(command[1])
    if program == name(launch[1]) or (#programs > 0 and not vim.tbl_contains(programs, program)) then
      return command
    end
    return vim.list_extend(vim.deepcopy(launch), command)
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
          adapter.commands[key] = behind_chain(command)
        end
        args = vim.tbl_extend("force", args, { adapter = adapter })
      end
      return new(args, ...)
    end
  end)

  with("avante.libs.acp_client", function(client)
    local new = client.new
    client.new = function(self, config, ...)
      if config and config.command then
        local command = behind_chain(vim.list_extend({ config.command }, config.args or {}))
        local args = vim.list_slice(command, 2)
        config = vim.tbl_extend("force", config, { command = command[1], args = args })
      end
      return new(self, config, ...)
    end
  end)
end

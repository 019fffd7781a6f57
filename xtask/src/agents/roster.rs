//! The agents: the package of each, and how it is pointed at the scripted model.

use std::fs;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::install::Installation;
use super::places::Place;
use crate::host::text;

/// One version of an agent.
pub struct Agent {
    /// Its name for `--only` and in the table.
    pub name: &'static str,
    package: &'static str,
    launch: fn(&Place, &str) -> Result<Launch>,
}

/// How an agent is started in one place.
pub struct Launch {
    pub command: Vec<String>,
    pub env: Vec<(&'static str, String)>,
    /// The method for `authenticate`, if the agent requires that.
    pub sign_in: Option<&'static str>,
    /// How the agent reaches the client's MCP servers.
    pub servers: Transport,
    /// How long to wait before another process loads its sessions.
    pub rest: Duration,
}

/// How an agent reaches MCP servers.
#[derive(Clone, Copy, Debug)]
pub enum Transport {
    Stdio,
    Http,
}

const PI_ACP: &str = "pi-acp";
const PI: &str = "@earendil-works/pi-coding-agent";
const FAST_AGENT: &str = "fast-agent-mcp";

/// All agents, in the order of the table.
pub const AGENTS: [Agent; 14] = [
    Agent::new("claude", "claude-agent-acp-0.101", claude),
    Agent::new("claude-older", "claude-agent-acp-0.49", claude),
    Agent::new("codex", "@agentclientprotocol/codex-acp", codex),
    Agent::new("codex-older", "@zed-industries/codex-acp", codex_older),
    Agent::new("gemini", "@google/gemini-cli", gemini),
    Agent::new("qwen", "qwen-code-0.24", qwen),
    Agent::new("qwen-older", "qwen-code-0.15", qwen),
    Agent::new("opencode", "opencode-ai", |place, package| {
        opencode(place, package, "opencode", "OPENCODE_CONFIG_CONTENT")
    }),
    Agent::new("kilo", "@kilocode/cli", |place, package| {
        opencode(place, package, "kilo", "KILO_CONFIG_CONTENT")
    }),
    Agent::new("copilot", "@github/copilot", copilot),
    Agent::new("cline", "cline", cline),
    Agent::new("auggie", "@augmentcode/auggie", auggie),
    Agent::new("pi", PI_ACP, pi),
    Agent::new("fast-agent", FAST_AGENT, fast_agent),
];

impl Agent {
    const fn new(
        name: &'static str,
        package: &'static str,
        launch: fn(&Place, &str) -> Result<Launch>,
    ) -> Self {
        Self {
            name,
            package,
            launch,
        }
    }

    pub fn version(&self, installed: &Installation) -> Result<String> {
        match self.package {
            PI_ACP => {
                let [adapter, pi] = [PI_ACP, PI].map(|package| installed.npm_version(package));
                Ok(format!("{} with pi {}", adapter?, pi?))
            }
            FAST_AGENT => installed.python_version(FAST_AGENT),
            package => installed.npm_version(package),
        }
    }

    pub fn launch(&self, place: &Place) -> Result<Launch> {
        (self.launch)(place, self.package)
    }
}

impl Launch {
    /// A program of an npm package, with arguments.
    fn npm(place: &Place, package: &str, name: &str, args: &[&str]) -> Result<Self> {
        let program = place.installed.npm_program(package, name)?;
        // If programs of two packages have the same name, npm makes only one executable.
        let is_script = program.extension().is_some_and(|end| end != "exe");
        let mut command = Vec::from_iter(is_script.then(|| "node".to_owned()));
        command.push(text(&program)?);
        command.extend(args.iter().map(|arg| (*arg).to_owned()));
        Ok(Self::of(command))
    }

    fn of(command: Vec<String>) -> Self {
        Self {
            command,
            env: Vec::new(),
            sign_in: None,
            servers: Transport::Stdio,
            rest: Duration::ZERO,
        }
    }

    fn with(mut self, variables: &[(&'static str, &str)]) -> Self {
        let variables = variables
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        self.env.extend(variables);
        self
    }

    fn signs_in(mut self, method: &'static str) -> Self {
        self.sign_in = Some(method);
        self
    }
}

fn openai(place: &Place) -> String {
    format!("{}/v1", place.model.url)
}

fn claude(place: &Place, package: &str) -> Result<Launch> {
    // Otherwise another model decides whether a call may run.
    let settings = json!({"permissions": {"defaultMode": "default"}});
    place.write(".claude/settings.json", &settings)?;
    let launch = Launch::npm(place, package, "claude-agent-acp", &[])?;
    Ok(launch.with(&[
        ("ANTHROPIC_BASE_URL", &place.model.url),
        ("ANTHROPIC_API_KEY", "sk-mock"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        // Otherwise the model has to search for the tools of servers first.
        ("ENABLE_TOOL_SEARCH", "false"),
    ]))
}

/// The same configuration for both versions, each in its own form.
fn codex_settings(place: &Place) -> [(&'static str, Value); 4] {
    let provider = json!({
        "name": "mock", "base_url": openai(place), "wire_api": "responses", "env_key": "MOCK_KEY",
    });
    [
        ("model_provider", json!("mock")),
        ("model", json!("gpt-5.2")),
        ("model_providers", json!({"mock": provider})),
        // The sandbox of codex needs a program that not every system has.
        ("sandbox_mode", json!("danger-full-access")),
    ]
}

fn codex(place: &Place, package: &str) -> Result<Launch> {
    let settings = Value::from_iter(codex_settings(place));
    let launch = Launch::npm(place, package, "codex-acp", &[])?;
    Ok(launch.with(&[
        ("CODEX_CONFIG", &settings.to_string()),
        // Otherwise another model decides whether a call may run.
        ("INITIAL_AGENT_MODE", "workspace-write"),
        ("MODEL_PROVIDER", "mock"),
        ("MOCK_KEY", "sk-mock"),
    ]))
}

fn codex_older(place: &Place, package: &str) -> Result<Launch> {
    let mut launch = Launch::npm(place, package, "codex-acp", &[])?;
    // So that the agent requests permission before it runs a command.
    let asking = ("approval_policy", json!("untrusted"));
    for (name, value) in codex_settings(place).into_iter().chain([asking]) {
        let value = toml::Value::try_from(value)?;
        launch
            .command
            .extend(["-c".into(), format!("{name}={value}")]);
    }
    Ok(launch.with(&[("MOCK_KEY", "sk-mock"), ("OPENAI_API_KEY", "sk-mock")]))
}

fn gemini(place: &Place, package: &str) -> Result<Launch> {
    let auth = json!({"selectedType": "gemini-api-key"});
    let settings =
        json!({"security": {"auth": auth}, "privacy": {"usageStatisticsEnabled": false}});
    place.write(".gemini/settings.json", &settings)?;
    let launch = Launch::npm(place, package, "gemini", &["--acp"])?;
    let launch = launch.with(&[
        ("GEMINI_API_KEY", "mock"),
        ("GOOGLE_GEMINI_BASE_URL", &place.model.url),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ]);
    Ok(Launch {
        // A session that is loaded within the minute of its start is overwritten.
        rest: Duration::from_secs(61),
        ..launch.signs_in("gemini-api-key")
    })
}

fn qwen(place: &Place, package: &str) -> Result<Launch> {
    let auth = json!({"selectedType": "openai"});
    let settings = json!({
        "security": {"auth": auth},
        "privacy": {"usageStatisticsEnabled": false},
        // Otherwise the model has to search for the tools of servers first.
        "permissions": {"deny": ["tool_search", "tool_call"]},
    });
    place.write(".qwen/settings.json", &settings)?;
    let launch = Launch::npm(place, package, "qwen", &["--acp"])?;
    let launch = launch.with(&[
        ("OPENAI_API_KEY", "mock"),
        ("OPENAI_BASE_URL", &openai(place)),
        ("OPENAI_MODEL", "mock-model"),
        ("QWEN_CODE_NO_RELAUNCH", "true"),
        // Older versions send requests to this machine through the proxy.
        ("HTTP_PROXY", ""),
        ("HTTPS_PROXY", ""),
        ("http_proxy", ""),
        ("https_proxy", ""),
    ]);
    Ok(launch.signs_in("openai"))
}

/// opencode, and its fork kilo. Both are set to request permission before they run a command.
fn opencode(place: &Place, package: &str, name: &str, variable: &'static str) -> Result<Launch> {
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "mock",
        "options": {"baseURL": openai(place), "apiKey": "mock"},
        "models": {"mock-model": {"name": "mock", "tool_call": true}},
    });
    let settings = json!({
        "provider": {"mock": provider},
        "model": "mock/mock-model",
        "small_model": "mock/mock-model",
        "share": "disabled",
        "autoupdate": false,
        "permission": {"bash": "ask"},
    });
    let launch = Launch::npm(place, package, name, &["acp"])?;
    Ok(launch.with(&[
        (variable, &settings.to_string()),
        // Before it loads a plugin, it waits for npm to install a package, which pauses for more than two minutes
        // between its attempts.
        ("npm_config_fetch_retries", "0"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("KILO_DISABLE_MODELS_FETCH", "1"),
        ("KILO_DISABLE_AUTOUPDATE", "1"),
        ("KILO_DISABLE_LSP_DOWNLOAD", "1"),
    ]))
}

fn copilot(place: &Place, package: &str) -> Result<Launch> {
    let mut launch = Launch::npm(place, package, "copilot", &["--acp", "--no-auto-update"])?;
    // Copilot rejects servers that it would have to start.
    launch.servers = Transport::Http;
    Ok(launch.with(&[
        ("COPILOT_PROVIDER_BASE_URL", &openai(place)),
        ("COPILOT_PROVIDER_API_KEY", "mock"),
        ("COPILOT_MODEL", "mock-model"),
        ("COPILOT_OFFLINE", "true"),
        ("COPILOT_AUTO_UPDATE", "false"),
    ]))
}

fn cline(place: &Place, package: &str) -> Result<Launch> {
    let provider = "openai-compatible";
    let settings = json!({
        "provider": provider, "apiKey": "mock", "model": "mock-model", "baseUrl": openai(place),
    });
    let one = json!({
        "settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
    });
    let providers = json!({
        "version": 1, "lastUsedProvider": provider, "modes": {}, "providers": {provider: one},
    });
    place.write(".cline/data/settings/providers.json", &providers)?;
    let launch = Launch::npm(place, package, "cline", &["--acp"])?;
    Ok(launch.with(&[
        ("CLINE_NO_AUTO_UPDATE", "1"),
        ("CLINE_API_KEY", "mock"),
        ("CLINE_PROVIDER", provider),
        ("CLINE_MODEL", "mock-model"),
    ]))
}

fn auggie(place: &Place, package: &str) -> Result<Launch> {
    let tenant = format!("{}/", place.model.url);
    let session = json!({"accessToken": "mock", "tenantURL": tenant, "scopes": ["read", "write"]});
    let launch = Launch::npm(place, package, "auggie", &["--acp", "--allow-indexing"])?;
    Ok(launch.with(&[
        ("AUGMENT_SESSION_AUTH", &session.to_string()),
        ("AUGMENT_DISABLE_AUTO_UPDATE", "1"),
    ]))
}

fn pi(place: &Place, package: &str) -> Result<Launch> {
    let provider = json!({
        "name": "mock", "baseUrl": openai(place), "apiKey": "mock", "api": "openai-completions",
        "models": [{"id": "mock-model", "name": "mock"}],
    });
    place.write(
        ".pi/agent/models.json",
        &json!({"providers": {"mock": provider}}),
    )?;
    let settings = json!({"defaultProvider": "mock", "defaultModel": "mock-model"});
    place.write(".pi/agent/settings.json", &settings)?;
    let pi = text(&place.installed.npm_program(PI, "pi")?)?;
    let launch = Launch::npm(place, package, "pi-acp", &[])?;
    Ok(launch.with(&[("PI_ACP_PI_COMMAND", &pi), ("PI_OFFLINE", "1")]))
}

fn fast_agent(place: &Place, _: &str) -> Result<Launch> {
    let settings = json!({
        "default_model": "generic.mock-model",
        "generic": {"api_key": "mock", "base_url": openai(place)},
    });
    // JSON is YAML.
    place.write("settings.yaml", &settings)?;
    let card = "---\ntype: agent\nname: main\ndefault: true\nmodel: generic.mock-model\nshell: true\n---\nYou help.\n";
    place.write("cards/main.md", &json!(card))?;
    let folder = place.home.join("fast-agent");
    fs::create_dir_all(&folder)?;
    let command = [
        text(&place.installed.python_program("fast-agent-acp")?)?,
        "--agent-cards".into(),
        text(&place.home.join("cards"))?,
        "--config-path".into(),
        text(&place.home.join("settings.yaml"))?,
        "--model".into(),
        "generic.mock-model".into(),
        "--home".into(),
        text(&folder)?,
        "-x".into(),
    ];
    Ok(Launch::of(command.to_vec()))
}

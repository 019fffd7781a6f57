//! Variables of the environment that steer programs.

/// Variables that determine where programs find code.
pub(crate) const LOADERS: &str = "\
    LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP \
    PYTHONUSERBASE NODE_PATH NODE_OPTIONS BUN_OPTIONS JAVA_TOOL_OPTIONS PERL5LIB PERL5OPT RUBYLIB RUBYOPT \
    OPENSSL_CONF BASH_ENV ENV";

/// Variables beside [`LOADERS`] that decide which code runs, which settings are read, or which servers programs trust.
const STEERING: &str = "\
    HOME USERPROFILE APPDATA LOCALAPPDATA PATH PATHEXT COMSPEC SHELL EDITOR VISUAL PAGER BROWSER IFS PROMPT_COMMAND \
    PS4 ZDOTDIR GCONV_PATH CLASSPATH SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED \
    REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PYTHONHTTPSVERIFY DOTNET_STARTUP_HOOKS";

/// Prefixes of further variables of this kind: those of library loaders, Git, npm, pip, uv and .NET profilers, of folders
/// of settings, and of this program.
const STEERING_PREFIXES: &str = "\
    LD_ DYLD_ BASH_FUNC_ GIT_ NPM_CONFIG_ PIP_ UV_ OPENSSL_ CORECLR_ COR_ XDG_ ACP_CHAIN_";

/// Suffixes of further variables of this kind: interpreter options, proxies, addresses of models, settings of agents,
/// which may have hooks and servers, and the accounts to which prompts go.
const STEERING_SUFFIXES: &str = "\
    _OPTIONS _OPTS 5OPT RUBYOPT _PROXY _URL _URI _HOST _API_BASE _ENDPOINT _HOME _CONFIG _CONFIG_DIR _CONFIG_FILE \
    _CONFIG_PATH _CONFIG_CONTENT _API_KEY _AUTH_TOKEN";

/// Whether a variable loads code into programs, redirects their traffic, or names their settings or account.
pub fn steers(key: &str) -> bool {
    // On Windows, and in many programs, names of variables are case-insensitive.
    let key = key.to_ascii_uppercase();
    let mut names = LOADERS.split(' ').chain(STEERING.split(' '));
    names.any(|name| name == key)
        || STEERING_PREFIXES
            .split(' ')
            .any(|start| key.starts_with(start))
        || STEERING_SUFFIXES.split(' ').any(|end| key.ends_with(end))
}

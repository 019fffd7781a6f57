//! Tokens of single vendors that the catalogue lacks, or finds only beside the vendor's name; in the forms that their
//! vendors document, or that their programs print.

use super::{After, NONE, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "bitbucket-app-password",
        needles: &["atbb"],
        secret: "ATBB[A-Za-z0-9]{32}",
        ..TOKEN
    },
    Rule {
        name: "azure-sas-signature",
        needles: &["?sig=", "&sig="],
        apart: false,
        before: "[?&]sig=",
        secret: "[A-Za-z0-9+/]{43}=",
        after: After::Anything,
        ..TOKEN
    },
    Rule {
        name: "azure-function-key",
        needles: &["?code=", "&code="],
        apart: false,
        before: "[?&]code=",
        secret: "[A-Za-z0-9_-]{50,60}={1,2}",
        after: After::Anything,
        all: MIXED,
        ..TOKEN
    },
    Rule {
        name: "azure-devops-token",
        needles: &["azure_devops"],
        apart: false,
        before: "(?i:azure_devops(?:_ext)?_pat)",
        assigned: true,
        secret: "[A-Za-z0-9]{52,84}",
        after: After::End,
        ..TOKEN
    },
    // Whoever has the address can write to the channel.
    Rule {
        name: "discord-webhook",
        needles: &["discord.com/", "discordapp.c"],
        before: r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{17,20}/",
        secret: r"[\w-]{60,80}",
        ..TOKEN
    },
    // Where programs sign in with it, in the libraries for JavaScript and Python.
    Rule {
        name: "discord-bot-token",
        needles: &["login(", "run("],
        before: r#"(?:login|run)\(\s{0,4}\\?["'\x60]"#,
        secret: r"[MNO][A-Za-z0-9]{23,27}\.[\w-]{6}\.[\w-]{27,38}",
        after: After::Anything,
        all: MIXED,
        ..TOKEN
    },
    // Behind the bot's number. No key of SSH, which begins with `AAAA`.
    Rule {
        name: "telegram-bot-token",
        needles: &[":aa"],
        apart: false,
        before: ":",
        secret: r"AA[\w-]{33}",
        all: MIXED,
        none: &["^AAA"],
        entropy: 4.0,
        ..TOKEN
    },
    Rule {
        name: "tavily-api-key",
        needles: &["tvly-"],
        secret: "tvly-(?:dev-|prod-)?[A-Za-z0-9]{32,}",
        after: After::Word,
        ..TOKEN
    },
    Rule {
        name: "fireworks-api-key",
        needles: &["fw_"],
        secret: "fw_[A-Za-z0-9]{22,24}",
        all: MIXED,
        ..TOKEN
    },
    Rule {
        name: "voyage-api-key",
        needles: &["pa-"],
        secret: r"pa-[\w-]{43}",
        all: MIXED,
        entropy: 4.3,
        ..TOKEN
    },
    Rule {
        name: "jina-api-key",
        needles: &["jina_"],
        secret: "jina_[A-Za-z0-9]{60}",
        ..TOKEN
    },
    Rule {
        name: "square-client-secret",
        needles: &["sq0csp-"],
        secret: r"sq0csp-[\w-]{43}",
        ..TOKEN
    },
    // Of ElevenLabs, Firecrawl, E2B, Cursor and SonarQube: a prefix, and digits of base 16.
    Rule {
        name: "hex-token",
        needles: &["sk_", "fc-", "e2b_", "crsr_", "sqa_", "sqp_", "squ_"],
        secret: "sk_[0-9a-f]{48}|fc-[0-9a-f]{32}|e2b_[0-9a-f]{40}|crsr_[0-9a-f]{64}|sq[apu]_[0-9a-f]{40}",
        ..TOKEN
    },
    Rule {
        name: "fly-token",
        needles: &["fm1r_", "fm1a_", "fm2_", "fo1_"],
        secret: r"(?:fm1[ar]|fm2)_[A-Za-z0-9+/]{100,}={0,3}|fo1_[\w-]{43}",
        after: After::Anything,
        ..TOKEN
    },
    Rule {
        name: "vercel-blob-token",
        needles: &["vercel_blob_"],
        secret: "vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{30}",
        ..TOKEN
    },
    Rule {
        name: "netlify-token",
        needles: &["nfb_", "nfc_", "nfo_", "nfp_", "nfu_"],
        secret: "nf[bcopu]_[A-Za-z0-9]{36}",
        all: MIXED,
        ..TOKEN
    },
    Rule {
        name: "doppler-token",
        needles: &["dp.audit.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.st."],
        secret: r"dp\.(?:audit|ct|sa|scim|st)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
        ..TOKEN
    },
    Rule {
        name: "notion-internal-secret",
        needles: &["secret_"],
        secret: "secret_[A-Za-z0-9]{43}",
        all: MIXED,
        random: true,
        entropy: 4.0,
        ..TOKEN
    },
    Rule {
        name: "new-relic-user-key",
        needles: &["nrak-"],
        secret: "NRAK-[A-Z0-9]{27}",
        ..TOKEN
    },
    Rule {
        name: "hubspot-private-app-token",
        needles: &["pat-na", "pat-eu"],
        secret: "pat-(?:na|eu)[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        ..TOKEN
    },
    Rule {
        name: "facebook-access-token",
        needles: &["eaa"],
        secret: "EAA[A-Za-z0-9]{120,}",
        all: MIXED,
        entropy: 4.5,
        ..TOKEN
    },
    Rule {
        name: "contentful-personal-token",
        needles: &["cfpat-"],
        secret: r"CFPAT-[\w-]{43}",
        ..TOKEN
    },
    // A public token of Mapbox begins with `pk.`.
    Rule {
        name: "mapbox-secret-token",
        needles: &["sk.ey"],
        secret: r"sk\.eyJ[\w-]{40,200}\.[\w-]{20,40}",
        ..TOKEN
    },
    Rule {
        name: "laravel-app-key",
        needles: &["app_key"],
        apart: false,
        before: r#"APP_KEY\\?["']?\s{0,2}[=:]\s{0,2}\\?["']?"#,
        secret: "base64:[A-Za-z0-9+/]{43}=",
        after: After::Anything,
        ..TOKEN
    },
];

/// A token with a prefix, which ends where its pattern does.
const TOKEN: Rule = Rule {
    apart: true,
    after: After::Boundary,
    entropy: 3.0,
    ..NONE
};

/// Letters of both cases, and digits.
const MIXED: &[&str] = &["[0-9]", "[A-Z]", "[a-z]"];

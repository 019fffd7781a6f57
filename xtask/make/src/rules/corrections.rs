//! Changes to rules of the catalogue, because a text in a conversation arrives in pieces and has no path, or because
//! the detector splits the rule.

use super::catalogue::Entry;

/// The rule, what is replaced in its regex, and by what.
const REGEXES: &[(&str, &str, &str)] = &[
    // The other words are so common that the catalogue also requires these elsewhere in the file.
    (
        "alibaba-secret-key",
        "alibaba|aliyun|secret|key",
        "alibaba|aliyun",
    ),
    (
        "alibaba-sts-access-key-secret",
        "alibaba|aliyun|secret|key",
        "alibaba|aliyun",
    ),
    (
        "azure-storage-account-key",
        r"\b(?:AccountKey|(?:azure[_\s.-]*)?(?:storage[_\s.-]*)?(?:account[_\s.-]*)?(?:access[_\s.-]*)?key)\b",
        r"\b(?:azure|storage|account|access)[\w\s.-]{0,40}key\b",
    ),
    // An alternative at a boundary, with the flag of the rule in front.
    (
        "canadian-digital-service-notify-api-key",
        r"(?i:\b(",
        r"(?i)\b(",
    ),
    ("canadian-digital-service-notify-api-key", r")\b)", r")\b"),
    // Such a header counts whatever sends it; otherwise, a text would be held for lines after `curl`.
    (
        "curl-auth-header",
        "",
        r#"(?:-H|--header)(?:=|[ \t]{0,5})["'](?i:Authorization:[ \t]{0,5}(?:(?:Basic|Bearer|(?:Api-)?Token)[ \t])?|(?:X-(?:[a-z]+-)?)?(?:Api-?)?(?:Key|Token):[ \t]{0,5})([\w=~@.+/-]{8,})(?:["']|$)"#,
    ),
    // The rule begins with a number, and there are too many numbers to check each.
    (
        "facebook-access-token",
        "",
        r#"(?i)(?:facebook|fb)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}(\d{15,16}(?:\||%)[0-9a-z\-_]{27,40})(?:\\?['"\x60]|[\s;]|\\[nr]|$)"#,
    ),
    // From the literal part on: the part before it is not searched for, and alone is no secret.
    (
        "azure-ad-client-secret",
        r"([a-zA-Z0-9_~.]{3}\dQ~",
        r"(\dQ~",
    ),
    ("azure-ad-client-secret", r#"(?:^|[\\'"\x60\s>=:(,)])"#, ""),
    (
        "hashicorp-tf-api-token",
        r"[a-z0-9]{14}\.(?-i:atlasv1)",
        "(?-i:atlasv1)",
    ),
    (
        "tableau-personal-access-token.1",
        "(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/]{22}==:",
        "(==:",
    ),
    // On the same line, which may be continued on the next.
    (
        "curl-auth-user",
        r"\bcurl\b(?:.*|.*(?:[\r\n]{1,2}.*){1,5})[ \t\n\r]",
        r"\bcurl\b(?:(?:[^\r\n]|\\\r?\n){0,160}[ \t\n])?",
    ),
    // The prefix is enough.
    (
        "endorlabs-api-key",
        r#"(?i)(?:endor(?:labs)?|key)(?:[ \t\w.-]{0,20})[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}(endr"#,
        r"(?i)\b(endr",
    ),
    // With separate groups, and after the password only the host.
    (
        "generic-credential-uri",
        "",
        r#"(?i)\b(?:https?|postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|ldaps?|smtps?|ftps?|ssh)://[^:/@\s'"\x60]{0,128}:([^/@\s'"\x60]{1,256})@(?:\[[0-9a-f:.%]+\]|[a-z0-9][a-z0-9._-]{0,252})"#,
    ),
    (
        "mongodb-connection-string",
        r#"(?:['"\s;\x60]|\\[nr]|\b|$)"#,
        "",
    ),
    (
        "perplexity-api-key",
        r#"(?:[\x60'"\s;]|\\[nr]|$|\b)"#,
        r"\b",
    ),
    // Its percent escapes are read as the characters that they stand for.
    (
        "twitter-bearer-token",
        "[a-zA-Z0-9%]{80,100}",
        "[a-zA-Z0-9%+/=]{70,100}",
    ),
];

/// The rules whose whole match is the secret, whatever groups it has.
const WHOLE: &[&str] = &["jwt-base64", "microsoft-teams-webhook"];

/// The rules that are left out, besides those for files with certain names.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("discord-client-id", "is public by design"),
    (
        "endorlabs-api-secret",
        "finds the same as `endorlabs-api-key`",
    ),
    (
        "gcp-service-account",
        "its private key is found as `private-key`",
    ),
    (
        "gcp-application-default-credentials",
        "asks for two members of a JSON object in any order; what it has of Google is found as \
         `google-oauth`",
    ),
    (
        "generic-api-key",
        "weighs the names and the words around; `random-assignment` and `assignments` take its place",
    ),
    (
        "generic-credential-uri",
        "found by a rule of our own, which reads up to the last `@`, and knows any scheme",
    ),
    (
        "generic-password",
        "weighs the names and the words around; `random-assignment` and `assignments` take its place",
    ),
    (
        "mongodb-connection-string",
        "takes the whole address; its password is found as `generic-credential-uri`",
    ),
    (
        "private-key",
        "found by a rule of our own, which needs no end and stands noise in it",
    ),
];

pub fn apply(entry: &mut Entry) {
    for (_, from, to) in REGEXES.iter().filter(|(id, ..)| *id == entry.id) {
        if from.is_empty() {
            entry.regex = (*to).to_owned();
            entry.value_group = 0;
        } else {
            entry.regex = entry.regex.replacen(from, to, 1);
        }
    }
    if WHOLE.contains(&&*entry.id) {
        entry.regex = without_groups(&entry.regex);
    }
    if entry.id == "box-api-access-token" {
        // The filter also excludes what is called a client, which is not known at this point.
        let filter = entry
            .filter
            .find("entropy(")
            .map_or("", |at| &entry.filter[at..]);
        entry.filter = filter.to_owned();
    }
}

fn without_groups(regex: &str) -> String {
    let named = regex::Regex::new(r"\(\?P<\w+>").expect("valid");
    let unnamed = regex::Regex::new(r"(^|[^\\])\(([^?])").expect("valid");
    let regex = named.replace_all(regex, "(?:");
    unnamed.replace_all(&regex, "$1(?:$2").into_owned()
}

use crate::detector::{Detector, Marker};
use crate::effort::Effort;
use crate::rules;

/// Random, so that scanners of this source report no secrets.
fn random(length: usize) -> String {
    "q7Zk2Lx9Wm4Tb8Rv1Hs6Yd3"
        .chars()
        .cycle()
        .take(length)
        .collect()
}

#[track_caller]
fn assert_found(texts: &[(&str, String)]) {
    let detector = Detector::new(rules::defaults().copied()).expect("the rules are right");
    for (text, secret) in texts {
        let text = text.replace("SECRET", secret);
        let redacted = detector
            .marking(Marker::Redacted)
            .redact(&text, &mut Effort::default())
            .expect("in memory")
            .unwrap_or_else(|| panic!("nothing is found in {text}"));
        let shown = redacted.text.split("[redacted: ").map(|part| {
            let (_, shown) = part.split_once(']').unwrap_or(("", part));
            shown
        });
        // No part of it either.
        let left = shown
            .flat_map(|shown| shown.as_bytes().windows(5))
            .find(|part| secret.as_bytes().windows(5).any(|of| of == *part));
        assert_eq!(left.map(String::from_utf8_lossy), None, "{}", redacted.text);
    }
}

#[track_caller]
fn assert_left(texts: &[&str]) {
    let detector = Detector::new(rules::defaults().copied()).expect("the rules are right");
    for text in texts {
        let secrets = detector.find(text, &mut Effort::default());
        assert_eq!(secrets, Ok(vec![]), "{text}");
    }
}

#[test]
fn the_password_of_an_address_reaches_to_its_last_at_sign() {
    for password in [
        "aB3%2Fx9Qz7Lk2",
        "p@ssw0rd@X9z",
        "Zk9%40x2%2Fq7",
        "k3:Yx!8,Lm",
    ] {
        let password = password.to_owned();
        assert_found(&[
            (
                "DATABASE_URL=postgres://svc:SECRET@db.internal/app",
                password.clone(),
            ),
            (
                "postgresql+asyncpg://svc:SECRET@db.internal:5432/app",
                password.clone(),
            ),
            ("jdbc:mariadb://svc:SECRET@10.0.0.5/app", password.clone()),
            (
                "mssql+pyodbc://sa:SECRET@sql.internal:1433/x?driver=ODBC+17",
                password.clone(),
            ),
            (
                "mongodb+srv://app:SECRET@c0.abcde.mongodb.net/?w=majority",
                password.clone(),
            ),
            (
                "smtp://me@corp.com:SECRET@smtp.corp.com:587",
                password.clone(),
            ),
            ("neo4j+s://neo4j:SECRET@graph.internal", password.clone()),
            ("redis://:SECRET@cache.internal:6379/0", password.clone()),
            (
                "postgres://svc:SECRET@${DB_HOST}:5432/app",
                password.clone(),
            ),
            (
                r#""nats:\/\/u:SECRET@nats.internal:4222\/x""#,
                password.clone(),
            ),
            (
                "dsn := \"svc:SECRET@tcp(10.0.0.4:3306)/app\"",
                password.clone(),
            ),
            (
                "sql.Open(\"mysql\", \"svc:SECRET@unix(/tmp/s)/app\")",
                password,
            ),
        ]);
    }
    let plain = random(10);
    assert_found(&[
        (
            "redirect=postgres%3A%2F%2Fsvc%3ASECRET%40db.internal%2Fapp",
            plain.clone(),
        ),
        (
            "jdbc:mysql://db.internal/app?user=svc&password=SECRET&ssl=1",
            plain.clone(),
        ),
        (
            "Server=sql.internal;Database=app;User Id=svc;Password=SECRET;",
            plain.clone(),
        ),
        (
            "host=db.internal user=svc password=SECRET dbname=app",
            plain.clone(),
        ),
        ("[client]\nuser=root\npassword=SECRET\n", plain.clone()),
        (
            r#"{"repo": {"username": "me", "password": "SECRET"}}"#,
            plain.clone(),
        ),
        (r#"{\"username\": \"me\", \"password\": \"SECRET\"}"#, plain),
    ]);
}

#[test]
fn an_address_without_a_secret_is_unchanged() {
    assert_left(&[
        "postgres://postgres:postgres@localhost:5432/test",
        "mysql://root:root@127.0.0.1/x, amqp://guest:guest@localhost:5672",
        "postgres://test:test@db:5432/test",
        "mongodb://admin:password@localhost:27017",
        "postgres://svc:svc@db.internal/app",
        "postgres://user:password@host:5432/db",
        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
        "scheme://user:pass@host:port/path, proto://%s:%s@%s/x",
        "postgres://{user}:{password}@{host}/db",
        "git clone https://oauth2:$TOKEN@gitlab.com/x",
        "http://localhost:3000/users/@me, https://registry:5000/x@v1",
        "ssh://git@github.com:22/org/repo.git",
        "https://example.org:8080?mail=me@x.org",
        "[http://example.org:8080](mailto:me@x.org)",
        "http://[::1]:8080/@x",
        "username: form.userName1, password: form.passWord1",
        "user=foo;password=bar;",
        "https://x.org/login?password=forgotten&next=1",
    ]);
}

#[test]
fn credentials_are_found_in_the_formats_of_tools() {
    let (token, base64) = (random(40), random(28) + "==");
    assert_found(&[
        ("Authorization: Basic SECRET", base64.clone()),
        ("proxy-authorization: basic SECRET", base64.clone()),
        (
            "headers[\"Authorization\"] = \"Basic SECRET\"",
            base64.clone(),
        ),
        ("{'Authorization': 'Bearer SECRET'}", token.clone()),
        (r#"{\"authorization\": \"token SECRET\"}"#, token.clone()),
        (
            r#"{"auths": {"registry": {"auth": "SECRET"}}}"#,
            base64.clone(),
        ),
        (
            "{\n\t\"auths\": {\n\t\t\"r\": {\n\t\t\t\"auth\": \"SECRET\"",
            base64.clone(),
        ),
        ("//npm.corp.com/:_authToken=SECRET", token.clone()),
        ("//npm.corp.com/:_auth=SECRET", base64.clone()),
        ("//npm.corp.com/:_password=SECRET", base64.clone()),
        ("machine github.com login me password SECRET", random(9)),
        (
            "machine api.x.com\n  login me@x.com\n  password SECRET\n",
            random(9),
        ),
        (
            "<username>me</username><password>SECRET</password>",
            random(9),
        ),
        (
            "<add key=\"ClearTextPassword\" value=\"SECRET\" />",
            random(9),
        ),
        ("define('DB_PASSWORD', 'SECRET');", random(9)),
        (
            "define( 'AUTH_SALT', 'SECRET' );",
            "x9 |Qz7, Lk2 &t8".to_owned(),
        ),
        ("[Interface]\nPrivateKey = SECRET", random(43) + "="),
        (
            "client-key-data: SECRET",
            format!("LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo{}", random(200)),
        ),
        (
            "tls.key: SECRET",
            format!("LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1J{}", random(200)),
        ),
        (
            "[registry]\ntoken = \"SECRET\"",
            format!("cio{}", random(32)),
        ),
    ]);
    assert_left(&[
        "Authorization: Bearer <token>, Authorization: Bearer $TOKEN",
        "Authorization: Basic ${AUTH}, Authorization: Basic realm=\"x\"",
        "Authorization: Bearer YOUR_API_KEY",
        "'Authorization': 'Bearer ' + token",
        "authorization: bearer token required here",
        "WWW-Authenticate: Bearer realm=\"https://x\",error=\"y\"",
        "\"auth\": \"oauth2\", \"auth\": \"required\", auth: { type: basic }",
        "{\"auth\":\"dXNlcjpwYXNz\"}",
        "//registry/:_authToken=${NPM_TOKEN}",
        "machine learning login page password reset form",
        "<password>secret</password><password>${env.PW}</password>",
        "define('AUTH_KEY', 'put your unique phrase here')",
        "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUMvakNDQWVh",
    ]);
}

#[test]
fn credentials_are_found_in_headers_and_options_of_commands() {
    let token = random(32);
    let django = "x9$k(2!pq#7lm+r@z^w&t4*b8-rv1=hs6_yd3)jf5k%gc0eun";
    let lines = format!("{}\n{}", "Kx7/".repeat(16), random(24));
    assert_found(&[
        ("curl -H 'x-api-key: SECRET'", token.clone()),
        ("{\"X-API-Key\": \"SECRET\"}", token.clone()),
        ("X-API-KEY: SECRET", hex(32)),
        ("Authorization: SSWS SECRET", format!("00{}", random(40))),
        ("Authorization: GenieKey SECRET", token.clone()),
        ("tool login --token SECRET --yes", token.clone()),
        ("[\"--api-key\", \"SECRET\"]", token.clone()),
        ("helm upgrade --password 'SECRET'", token),
        (
            "secret_key = 'django-insecure-SECRET'",
            format!("{django}7"),
        ),
        ("secret_key = \"SECRET\"", format!("{django}7")),
        (
            "Private-Lines: 2\r\nSECRET\r\nPrivate-MAC: 7f03",
            lines.clone(),
        ),
        (r"Private-Lines: 2\nSECRET\nPrivate-MAC: 7f03", lines),
    ]);
    assert_left(&[
        "--token string   the token, --token $TOKEN, --password-stdin",
        "--secret id=npm,src=.npmrc --token <your-token>",
        "--api-key docs/configuration/README.md",
        "\"api-key-name\": \"7f03c9e1-a58b-24d6-e091-7c3fb52a86d4\"",
        "x-api-key: your-api-key-goes-here-1234",
        "SECRET_KEY = os.environ['DJANGO_SECRET_KEY']",
        "https://x.org/cb?code=SplxlOBeZQQYbYS6WxSbIA",
        "app.run('0.0.0.0'), api.login('MTA')",
    ]);
}

#[test]
fn a_longer_token_is_found_completely() {
    let jwt = format!("eyJ{}.eyJ{}.{}", random(80), random(260), random(86));
    let app = format!("ghs_1234567_{jwt}");
    let session = format!("IQoJb3JpZ2luX2VjEJr{}/+{}==", random(200), random(200));
    let key = random(38) + "/9";
    let line =
        format!("CREDENTIALS\tASIAQWERT2YUIOPASD3F\t2026-11-27T20:00:00+00:00\tSECRET\t{session}");
    assert_found(&[
        ("SECRET", app.clone()),
        ("GITHUB_TOKEN=SECRET", app.clone()),
        ("https://x-access-token:SECRET@github.com/o/r.git", app),
        ("AWS_SESSION_TOKEN=SECRET", session.clone()),
        ("$env:AWS_SESSION_TOKEN=\"SECRET\"", random(300)),
        ("\"SecurityToken\": \"SECRET\"", random(120)),
        ("<SessionToken>SECRET</SessionToken>", session.clone()),
        (
            "X-Amz-Security-Token=SECRET&X-Amz-Date=1",
            session.replace('/', "%2F").replace('+', "%2B"),
        ),
        (&line, key.clone()),
        (&line.replace(&session, "SECRET"), session),
        ("AKIAQWERT2YUIOPASD3F,SECRET", key),
    ]);
    for prefix in [
        "glrt-t1_",
        "glrt-",
        "glpat-",
        "gldt-",
        "glptt-",
        "glcbt-64_",
        "glagent-",
    ] {
        assert_found(&[("x SECRET y", format!("{prefix}{}.01.0w1xyzab7", random(40)))]);
    }
    assert_left(&[
        "ghs_1234567_is_no_token. It. Is. Not",
        "glrt-is-a-prefix.01.and no more",
    ]);
}

/// Digits of base 16.
fn hex(length: usize) -> String {
    "7f03c9e1a58b24d6e0917c3fb52a86d4"
        .chars()
        .cycle()
        .take(length)
        .collect()
}

#[test]
fn tokens_of_single_vendors_are_found_without_their_names() {
    let uuid = "7f03c9e1-a58b-24d6-e091-7c3fb52a86d4";
    let found = [
        format!("ATBB{}", random(32)),
        format!("tvly-dev-{}", random(32)),
        format!("tvly-{}", random(32)),
        format!("fw_{}", random(24)),
        format!("pa-{}", random(43)),
        format!("jina_{}", random(60)),
        format!("sk_{}", hex(48)),
        format!("fc-{}", hex(32)),
        format!("e2b_{}", hex(40)),
        format!("crsr_{}", hex(64)),
        format!("sq0csp-{}", random(43)),
        format!("sk-None-{}", random(48)),
        format!("squ_{}", hex(40)),
        format!("fm2_{}==", random(120)),
        format!("vercel_blob_rw_{}_{}", random(16), random(30)),
        format!("nfp_{}", random(36)),
        format!("dp.st.prd.{}", random(43)),
        format!("secret_{}", random(43)),
        format!("NRAK-{}", random(27).to_uppercase()),
        format!("pat-na1-{uuid}"),
        format!("EAA{}", random(180)),
        format!("CFPAT-{}", random(43)),
        format!("sk.eyJ{}.{}", random(60), random(22)),
    ];
    for token in found {
        assert_found(&[("x SECRET y", token.clone()), ("\"SECRET\"", token)]);
    }
    let discord = format!("MTA{}.{}.{}", random(23), random(6), random(38));
    assert_found(&[
        (
            "https://discord.com/api/webhooks/123456789012345678/SECRET",
            random(68),
        ),
        (
            "api.telegram.org/bot7655721014:SECRET/getMe",
            format!("AA{}", random(33)),
        ),
        (
            "https://x.blob.core.windows.net/c?sv=2022-11-02&sig=SECRET",
            random(43) + "=",
        ),
        ("client.login('SECRET')", discord.clone()),
        ("bot.run(\"SECRET\")", discord),
        (
            "https://x.azurewebsites.net/api/f?code=SECRET",
            random(54) + "==",
        ),
        ("export AZURE_DEVOPS_EXT_PAT=SECRET", random(52)),
        ("APP_KEY=SECRET", format!("base64:{}=", random(43))),
        ("RAILS_MASTER_KEY=SECRET", hex(32)),
        ("CIRCLE_TOKEN=SECRET", hex(40)),
        ("{\"api_key\": \"SECRET\"}", hex(40)),
        ("TWILIO_AUTH_TOKEN: SECRET", hex(32)),
    ]);
}

#[test]
fn what_only_looks_like_a_token_of_a_vendor_is_unchanged() {
    let hash = hex(40);
    assert_left(&[
        &format!("commit {hash}"),
        &format!("token_hash={hash}, api_key_hash: {hash}"),
        &format!("cache_key_{}, public_key: {hash}", hex(64)),
        &format!("spa-{}", random(43)),
        "ssh-key:AAAAC3NzaC1lZDI1NTE5AAAAIQ7x",
        "secret_rotation_lambda_function_name_of_the_project",
        "password: 0123456789abcdef0123456789abcdef",
        "token_id = \"7f03c9e1-a58b-24d6-e091-7c3fb52a86d4\"",
        "tokenAddress: \"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\"",
        "secret_name: \"7f03c9e1-a58b-24d6-e091-7c3fb52a86d4\"",
        concat!(
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/",
            "bPxRfiCYEXAMPLEKEY"
        ),
        concat!(
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.",
            "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.",
            "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"
        ),
    ]);
}

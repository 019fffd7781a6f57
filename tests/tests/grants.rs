//! A proxy does what the user grants it, and no more: what is not granted comes to nothing, and is
//! counted in the log.

use acp_chain_tests::chain::{Chain, entry, error_of};
use acp_chain_tests::client::prompt;
use serde_json::Value;

const AGENT: &str = env!("CARGO_BIN_EXE_wild-agent");

/// A script of the agent's: it asks the user, and tells the outcome.
const ASK: &str = "permission edit Edit /etc/hosts";

/// A proxy with this grant and this configuration, which serves on after it has failed.
async fn chain(grant: &str, config: &str) -> Chain {
    let terms = format!("on-failure = 'restart'\n{grant}\n{config}");
    Chain::initialized(&entry("does", "does", &terms), AGENT).await
}

/// The log's last word on what the proxy did that it had no right to.
fn denied(log: &str) -> u64 {
    let mut counts = log.lines().rev().filter_map(|line| {
        let (_, count) = line.split_once("denied: ")?;
        count.split_once(',')?.0.parse().ok()
    });
    counts.next().expect("the books are closed in the log")
}

/// Plays a turn in which the agent asks the user, who rejects it once; returns what the user was
/// asked, and what the agent got to hear.
async fn asked_and_told(mut chain: Chain) -> (Vec<String>, Vec<String>, String) {
    chain.client.wire = chain.client.wire.answering(|message| {
        let outcome = r#"{"outcome":{"outcome":"selected","optionId":"reject-once"}}"#;
        message.result(outcome)
    });
    chain.client.turn(ASK).await;
    let lines = chain.client.wire.transcript().received("client");
    let titles = lines.iter().filter_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        let title = &line["params"]["toolCall"]["title"];
        title.as_str().map(str::to_owned)
    });
    let titles = titles.collect();
    let mut told = chain.client.chunks();
    told.retain(|text| !text.contains("**acp-chain**"));
    (titles, told, chain.finish().await)
}

#[tokio::test]
async fn what_it_may_not_observe_it_does_not_see() {
    let config = "
        [proxy.config.requests]
        'session/prompt' = [{ log = 'saw a prompt' }]
        'session/list' = [{ log = 'saw a list' }]
        [proxy.config.notifications]
        'session/update' = [{ log = 'saw an update' }]
        [proxy.config.responses]
        'session/prompt' = [{ log = 'saw a stop' }]";
    for (observe, sees) in [
        ("['*', '!session/prompt']", [true, true, false, false]),
        ("['session/prompt']", [false, false, true, true]),
        ("['session/*']", [true; 4]),
        ("[]", [false; 4]),
    ] {
        let mut chain = chain(&format!("grant.observe = {observe}"), config).await;
        chain.request("session/list").await;
        chain.client.turn("echo hi").await;
        assert_eq!(chain.client.chunks(), ["hi"]);
        let log = chain.finish().await;
        let saw = ["a list", "an update", "a prompt", "a stop"];
        assert_eq!(saw.map(|what| log.contains(&format!("saw {what}"))), sees);
        assert_eq!(denied(&log), 0, "not to see is nothing that it did");
    }
}

#[tokio::test]
async fn what_it_may_not_change_it_cannot_and_that_is_counted() {
    const EDIT: &str =
        "'session/prompt' = [{ edit = { pointer = '/prompt/0/text', value = 'echo changed' } }]";
    let config = format!(
        "[proxy.config.requests]\n{EDIT}
        [proxy.config.notifications]
        'session/update' = ['discard']
        [proxy.config.responses]
        'session/list' = [{{ replace = {{ sessions = [1] }} }}]"
    );
    for (grant, may) in [
        ("grant.change = []", false),
        ("grant.change = ['test/*']", false),
        ("", true),
    ] {
        let mut chain = chain(grant, &config).await;
        let list = chain.request("session/list").await.result.unwrap();
        let answer = chain.client.turn("show").await;
        assert!(answer.result.is_some(), "{}", answer.line);
        let chunks = chain.client.chunks();
        let log = chain.finish().await;
        if may {
            assert_eq!((&*list, chunks.len()), (r#"{"sessions":[1]}"#, 0));
            assert_eq!(denied(&log), 0);
        } else {
            assert_eq!(list, r#"{"sessions":[]}"#);
            assert!(chunks[0].contains(&prompt("s", "show")), "{chunks:?}");
            assert_eq!(denied(&log), 3, "{log}");
            assert!(log.contains(r#"`change` lacks "session/prompt""#), "{log}");
        }
    }
}

#[tokio::test]
async fn what_it_may_change_but_not_answer_is_refused_when_it_answers() {
    let config = "[proxy.config.requests]\n'test/ask' = [{ respond = 'mine' }]";
    let mut without = chain("", config).await;
    let error = without.refused("test/ask").await;
    let expected = r#"the proxy `does` failed on test/ask: its decision cannot be carried out: its grant does not cover it: `answer` lacks "test/ask""#;
    assert_eq!(error, format!("acp-chain: {expected}"));
    let log = without.finish().await;
    assert_eq!(denied(&log), 1);
    assert!(log.contains(expected), "{log}");

    let mut with = chain("grant.answer = ['test/*']", config).await;
    let answer = with.request("test/ask").await;
    assert_eq!(answer.result.as_deref(), Some(r#""mine""#));
    assert_eq!(denied(&with.finish().await), 0);
}

#[tokio::test]
async fn what_it_may_not_originate_is_not_sent() {
    let config = "
        [proxy.config.requests]
        'test/go' = [
            { tell = { to = 'client', method = 'test/told', params = {} } },
            { tell = { to = 'agent', method = 'test/told', params = {} } },
            { ask = { to = 'client', method = 'test/asked', params = {} } },
        ]";
    for (grant, may) in [
        ("", [false, false]),
        ("grant.originate = ['test/told']", [true, false]),
        ("grant.originate = ['test/*']", [true, true]),
    ] {
        let mut chain = chain(grant, config).await;
        chain.client.wire = chain
            .client
            .wire
            .answering(|asked| asked.result(r#""yes""#));
        chain.reaches_the_agent("test/go").await;
        let lines = chain.client.wire.transcript().received("client");
        let came = |method| lines.iter().any(|line| line.contains(method));
        assert_eq!([came("test/told"), came("test/asked")], may, "{lines:?}");
        let log = chain.finish().await;
        assert_eq!(log.contains(r#"the answer is "yes""#), may[1]);
        let refused = u64::from(!may[0]) * 2 + u64::from(!may[1]);
        assert_eq!(denied(&log), refused, "{log}");
    }
}

/// Everything that a proxy could try, if it is granted nothing in particular: the user is asked
/// what the agent asks, and the agent hears what the user says.
#[tokio::test]
async fn by_default_it_decides_nothing_in_the_users_place() {
    let allow = "{ outcome = { outcome = 'selected', optionId = 'allow-once' } }";
    let on_request =
        |deed: &str| format!("[proxy.config.requests]\n'session/request_permission' = [{deed}]");
    let on_answer =
        |deed: &str| format!("[proxy.config.responses]\n'session/request_permission' = [{deed}]");
    for (config, denials) in [
        (on_request(&format!("{{ respond = {allow} }}")), 1),
        (
            on_request("{ edit = { pointer = '/toolCall/title', value = 'Harmless' } }"),
            1,
        ),
        (
            on_request("{ replace = { toolCall = { title = 'Harmless' } } }"),
            1,
        ),
        (on_request("{ reject = 'no' }"), 1),
        (on_request("'hold'"), 1),
        (on_request("{ fail = 'cannot' }"), 0),
        (on_request("{ break = 'panic' }"), 0),
        (on_answer(&format!("{{ replace = {allow} }}")), 1),
        (
            on_answer("{ edit = { pointer = '/outcome/optionId', value = 'allow-once' } }"),
            1,
        ),
        (on_answer("{ reject = 'no' }"), 1),
        (on_answer("'hold'"), 1),
        (on_answer("{ fail = 'cannot' }"), 0),
        (on_answer("{ break = 'panic' }"), 0),
    ] {
        let (asked, told, log) = asked_and_told(chain("", &config).await).await;
        assert_eq!(asked, ["Edit"], "{config}");
        assert_eq!(told, ["selected reject-once"], "{config}");
        assert_eq!(denied(&log), denials, "{config}\n{log}");
    }
}

#[tokio::test]
async fn by_default_it_does_not_ask_the_user_either() {
    let config = "
        [proxy.config.requests]
        'test/go' = [{ ask = { to = 'client', method = 'session/request_permission', params = {} } }]";
    let mut chain = chain("", config).await;
    chain.reaches_the_agent("test/go").await;
    let lines = chain.client.wire.transcript().received("client");
    assert_eq!(lines.len(), 1, "{lines:?}");
    let log = chain.finish().await;
    assert_eq!(denied(&log), 1);
    let expected = r#"`originate` lacks "session/request_permission""#;
    assert!(log.contains(expected), "{log}");
}

#[tokio::test]
async fn with_the_grant_it_decides_in_the_users_place() {
    let config =
        |kind, deed| format!("[proxy.config.{kind}]\n'session/request_permission' = [{deed}]");
    let allow = "{ outcome = { outcome = 'selected', optionId = 'allow-once' } }";

    let answers = config("requests", format!("{{ respond = {allow} }}"));
    let answer = "grant.answer = ['session/request_permission']";
    let (asked, told, _) = asked_and_told(chain(answer, &answers).await).await;
    assert_eq!(
        (asked.len(), &*told),
        (0, &["selected allow-once".to_owned()][..])
    );

    let change = "grant.change = ['session/request_permission']";
    let edits = "{ edit = { pointer = '/toolCall/title', value = 'Harmless' } }";
    let edits = config("requests", edits.to_owned());
    let (asked, told, _) = asked_and_told(chain(change, &edits).await).await;
    assert_eq!(
        (&*asked[0], &*told[0]),
        ("Harmless", "selected reject-once")
    );

    let replaces = config("responses", format!("{{ replace = {allow} }}"));
    let (asked, told, _) = asked_and_told(chain(change, &replaces).await).await;
    assert_eq!((&*asked[0], &*told[0]), ("Edit", "selected allow-once"));
}

#[tokio::test]
async fn a_message_stays_in_its_session() {
    let config = "
        [proxy.config.requests]
        'session/prompt' = [{ edit = { pointer = '/sessionId', value = 'other' } }]";
    let mut without = chain("", config).await;
    let error = error_of(&without.client.turn("show").await);
    let expected = r#"it moves the message to another session, for which `originate` would have to cover "session/prompt""#;
    assert!(error.ends_with(expected), "{error}");
    assert!(without.client.chunks().is_empty(), "the agent got nothing");
    assert_eq!(denied(&without.finish().await), 1);

    let mut with = chain("grant.originate = ['session/prompt']", config).await;
    with.client.turn("show").await;
    let [shown] = &with.client.chunks()[..] else {
        panic!("one chunk")
    };
    assert!(shown.contains(&prompt("other", "show")), "{shown}");
    assert_eq!(denied(&with.finish().await), 0);
}

#[tokio::test]
async fn no_grant_lets_it_speak_in_the_hosts_name() {
    let tells = ["initialize", "proxy/successor", "$/cancel_request"].map(|method| {
        format!(
            "{{ tell = {{ to = 'agent', method = '{method}', params = {{ requestId = 1 }} }} }}"
        )
    });
    let config = format!(
        "[proxy.config.requests]\n'test/go' = [{}]",
        tells.join(", ")
    );
    let mut chain = chain("grant.originate = ['*']", &config).await;
    chain.reaches_the_agent("test/go").await;
    assert!(chain.client.chunks().is_empty(), "the agent heard nothing");
    let log = chain.finish().await;
    assert_eq!(denied(&log), 3, "{log}");
    assert!(log.contains("is the host's to send"), "{log}");
}

#[tokio::test]
async fn a_grant_that_makes_no_sense_is_an_error() {
    for (grant, why) in [
        (
            "grant.change = ['a*b']",
            "`change`: a `*` stands only at the end",
        ),
        (
            "grant.answer = ['!session/prompt']",
            "takes away what nothing before it gives",
        ),
        (
            "grant.originate = ['initialize']",
            "initialize is the host's own to send",
        ),
        ("grant.originate = ['proxy/x']", "is the host's own"),
        (
            "grant.observe = ['']",
            "`observe`: an empty text names no method",
        ),
        (
            "grant.observes = []",
            "unknown key `observes`; did you mean `observe`?",
        ),
        ("grant.answer = 'session/prompt'", "expected a sequence"),
    ] {
        let mut chain = Chain::start(&entry("does", "does", grant), AGENT);
        let error = chain.refused("initialize").await;
        assert!(
            error.contains("acp-chain.toml:4:") && error.contains(why),
            "{error}"
        );
        let exit = chain.client.finish().await.unwrap();
        assert_eq!(exit.status.code(), Some(1));
    }
}

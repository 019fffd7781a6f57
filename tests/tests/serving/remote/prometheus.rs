//! The examples for Prometheus and Grafana: a Prometheus scrapes a server, and takes each query of theirs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use acp_chain_tests::wire::in_time;
use acp_chain_tests::{host, web};
use reqwest::{StatusCode, Url};
use rustix::process::Signal;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use super::served::{AGENT, ServerProcess};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples/serve")
        .join(name)
}

/// A Prometheus with the settings of the example, but for the times, and for the address of the server.
struct Prometheus {
    _child: Child,
    /// The rest of its log: it ends when it cannot write it.
    _log: Lines<BufReader<ChildStderr>>,
    url: String,
}

impl Prometheus {
    async fn scraping(address: &str, folder: &Path) -> Self {
        let settings = fs::read_to_string(example("prometheus.yml")).unwrap();
        let mut ours = settings.clone();
        let alerts = example("alerts.yml");
        for (theirs, here) in [
            ("127.0.0.1:9600", address),
            ("15s", "200ms"),
            ("alerts.yml", alerts.to_str().unwrap()),
        ] {
            assert!(settings.contains(theirs), "{theirs}");
            ours = ours.replace(theirs, here);
        }
        let file = folder.join("prometheus.yml");
        fs::write(&file, ours).unwrap();
        let mut command = Command::new(host::peer("bin/prometheus"));
        command
            .arg(format!("--config.file={}", file.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                folder.join("data").display()
            ))
            .arg("--web.listen-address=127.0.0.1:0")
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let listening = async {
            loop {
                let line = log.next_line().await.unwrap().expect("its address");
                if let Some((_, address)) = line.split_once("\"Listening on\" address=") {
                    return format!("http://{address}/api/v1");
                }
            }
        };
        let url = in_time("its address", listening).await;
        Self {
            _child: child,
            _log: log,
            url,
        }
    }

    /// The data of an answer of its API; null while it starts.
    async fn get(&self, path: &str, parameters: &[(&str, &str)]) -> Value {
        let url = format!("{}/{path}", self.url);
        let url = Url::parse_with_params(&url, parameters).unwrap();
        let answer = web::client().get(url).send().await.unwrap();
        if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
            return Value::Null;
        }
        let text = answer.text().await.unwrap();
        let mut answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["status"], "success", "{parameters:?}: {answer}");
        answer["data"].take()
    }

    /// Waits for a query's data: `rate` needs two scrapes.
    async fn has(&self, query: &str) {
        let data = async {
            while self.get("query", &[("query", query)]).await["result"]
                .as_array()
                .is_none_or(Vec::is_empty)
            {}
        };
        in_time(query, data).await;
    }

    /// The rules, once this is so of all.
    async fn rules(&self, what: &str, is: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let rules = async {
            loop {
                let data = self.get("rules", &[]).await;
                if let Some(rules) = data["groups"][0]["rules"].as_array()
                    && is(rules)
                {
                    return rules.clone();
                }
            }
        };
        in_time(what, rules).await
    }
}

/// A query for each value of a label that is selected as one of several, as by `end=~"error|lost"`.
fn each(query: &str) -> Vec<String> {
    let selected = query.split('"').find(|part| part.contains('|'));
    match selected {
        Some(any) => any.split('|').map(|one| query.replace(any, one)).collect(),
        None => vec![query.to_owned()],
    }
}

#[tokio::test]
async fn it_has_data_for_each_alert_and_each_panel() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("config/acp-chain");
    fs::create_dir_all(&settings).unwrap();
    let store = "[serve]\nstore = \"embedded\"\n";
    fs::write(settings.join("config.toml"), store).unwrap();
    let mut command = host::acp_chain("serve");
    command
        .env("XDG_CONFIG_HOME", folder.path().join("config"))
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .args(["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]);
    let mut served = ServerProcess::by(command.arg("--").arg(AGENT)).await;
    let numbers = served.numbers().await;
    let address = numbers.strip_prefix("http://").unwrap();
    let address = address.strip_suffix("/metrics").unwrap();
    let prometheus = Prometheus::scraping(address, folder.path()).await;

    let is_known = |rules: &[Value]| rules.iter().all(|rule| rule["health"] != "unknown");
    let rules = prometheus.rules("the alerts", is_known).await;
    assert!(rules.len() > 5, "{rules:#?}");
    for rule in rules {
        assert_eq!(rule["health"], "ok", "{rule:#}");
        assert_eq!(rule["state"], "inactive", "{rule:#}");
        let query = rule["query"].as_str().unwrap();
        let compared = query.rsplit_once(" > ").or(query.rsplit_once(" == "));
        for query in each(compared.unwrap().0) {
            prometheus.has(&query).await;
        }
    }

    let dashboard = fs::read_to_string(example("grafana.json")).unwrap();
    let panels: Value = serde_json::from_str(&dashboard).unwrap();
    let panels = panels["panels"].as_array().unwrap();
    let targets = panels
        .iter()
        .filter_map(|panel| panel["targets"].as_array())
        .flatten();
    let mut count = 0;
    for target in targets {
        let query = target["expr"].as_str().unwrap();
        // As Grafana does.
        let query = query.replace("$instance", ".*");
        prometheus
            .has(&query.replace("$__rate_interval", "1m"))
            .await;
        count += 1;
    }
    assert!(count > 5, "{count}");
    // Each metric of the store is watched.
    let metrics = prometheus.get("label/__name__/values", &[]).await;
    let metrics = metrics
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap());
    let mut of_store = metrics.filter(|name| name.contains("_store_")).peekable();
    assert!(of_store.peek().is_some());
    for name in of_store.filter(|name| !name.ends_with("_sum")) {
        assert!(dashboard.contains(name), "{name}");
    }

    served.signal(Signal::KILL);
    let down = |rules: &[Value]| rules[0]["state"] == "pending";
    let rules = prometheus.rules("the alert that it is down", down).await;
    assert_eq!(rules[0]["name"], "AcpChainDown");
}

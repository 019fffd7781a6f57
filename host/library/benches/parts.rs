//! Benchmarks of single parts of the host: `cargo xtask bench --micro`.

#[path = "../../router/benches/stage/mod.rs"]
mod stage;

use std::env;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use acp_chain::chain::{Proxy, Terms};
use acp_chain::channel::{FailurePolicy, Grant, Peer, Source};
use acp_chain::limits::LINE;
use acp_chain::rpc::Message;
use acp_chain::sandbox::{Component, Engine, Guest};
use acp_chain::transport::{LineReader, Outbox};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tokio::runtime::Runtime;

use stage::Stage;

/// The texts of updates, in bytes.
const SIZES: [usize; 3] = [100, 10_000, 1 << 20];

criterion_group! {
    name = parts;
    config = Criterion::default().without_plots();
    targets = frames, envelopes, hops, starts
}
criterion_main!(parts);

/// Splits bytes into lines.
fn frames(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut group = criterion.benchmark_group("frame");
    for size in SIZES {
        let line = format!("{}\n", stage::update(size));
        let count = (64 * 1024 / line.len()).max(1);
        let lines = line.repeat(count);
        group.throughput(Throughput::Bytes(lines.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| {
                runtime.block_on(async {
                    let mut reader = LineReader::new(lines.as_bytes(), LINE);
                    let mut found = 0;
                    while reader.fill().await.expect("memory can be read") {
                        found += std::iter::from_fn(|| reader.next_frame()).count();
                    }
                    assert_eq!(found, count);
                });
            });
        });
    }
}

/// Parses the envelope of one line.
fn envelopes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("envelope");
    for size in SIZES {
        let line = bytes::Bytes::from(stage::update(size));
        group.throughput(Throughput::Bytes(line.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| Message::parse(black_box(line.clone())).expect("it is a message"));
        });
    }
}

/// Passes a message through no proxy, a proxy without a sandbox, and sandboxed ones.
fn hops(criterion: &mut Criterion) {
    let runtime = runtime();
    let _guard = runtime.enter();
    let engine = engine(None);
    let pass = load(&engine);
    let real = |config: &str| {
        let guest = guest(&engine, &pass, config);
        runtime.block_on(proxy(guest))
    };
    let mut group = criterion.benchmark_group("hop");
    for size in SIZES {
        let message = Message::parse(stage::update(size).into()).expect("it is a message");
        for (name, proxies) in [
            ("none", vec![]),
            ("stub", vec![stage::stub("stub")]),
            ("pass", vec![real("{}")]),
            ("pass-without-body", vec![real(r#"{"with-body":false}"#)]),
            ("pass-elsewhere", vec![real(r#"{"elsewhere":true}"#)]),
        ] {
            let mut stage = Stage::new(proxies, None);
            group.bench_function(BenchmarkId::new(name, size), |bencher| {
                bencher.iter(|| {
                    let left = stage.carry(Peer::Agent, message.clone(), Outbox::len);
                    assert!(left > size);
                });
            });
        }
    }
}

/// Instantiates a component, and loads one from the cache.
fn starts(criterion: &mut Criterion) {
    let runtime = runtime();
    let _guard = runtime.enter();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-cache");
    let engine = engine(Some(&cache));
    let pass = load(&engine);
    criterion.bench_function("instantiate", |bencher| {
        bencher.iter_batched(
            || guest(&engine, &pass, "{}"),
            |guest| runtime.block_on(guest.start(1, None)).expect("it starts"),
            BatchSize::SmallInput,
        );
    });
    criterion.bench_function("load from cache", |bencher| bencher.iter(|| load(&engine)));
}

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

fn engine(cache: Option<&Path>) -> Engine {
    Engine::new(cache).expect("an engine")
}

/// Loads the tests' proxy that sees and forwards all messages.
fn load(engine: &Engine) -> Component {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("components");
    let folder = env::var_os("ACP_CHAIN_COMPONENTS").map_or(target, PathBuf::from);
    let path = folder.join("pass.wasm");
    Component::load(engine, &path).unwrap_or_else(|error| {
        let path = path.display();
        panic!("{path}: {error}; `cargo xtask guests pass` makes it")
    })
}

fn guest(engine: &Engine, component: &Component, config: &str) -> Guest {
    Guest {
        config: config.into(),
        grant: Grant::all_powers("stub").into(),
        ..Guest::new(engine, component.clone(), "pass")
    }
}

async fn proxy(guest: Guest) -> Proxy {
    let terms = Terms {
        limits: guest.limits.clone(),
        grant: guest.grant.clone(),
        on_failure: FailurePolicy::Refuse,
        sleep_after: None,
    };
    let started = Proxy::start("pass", guest, terms).await;
    started.expect("it starts")
}

//! What becomes of leases, slots and look-ups if the store answers late, or not at all. The store is the test.

use acp_chain_rpc::Message;
use acp_chain_rpc::json_lines::{line, parse};
use acp_chain_rpc::worker::Request;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::time::sleep;

use super::super::connection::Connection;
use super::super::limits::{Files, Limits};
use super::super::metrics::TransportKind;
use super::super::registry::Registry;
use super::super::shares::TurnLimits;
use super::slot::LATE;
use super::*;

/// A lease that is not over during a test.
const LONG: Duration = Duration::from_mins(10);

/// What the calls of a replica arrive at.
struct TestStore {
    requests: BufReader<DuplexStream>,
    replies: DuplexStream,
    /// Whether heartbeats are answered.
    is_reached: bool,
}

impl TestStore {
    /// The next call that fits.
    async fn next(&mut self, fits: impl Fn(&Call) -> bool) -> Request<Call> {
        loop {
            let mut text = Vec::new();
            let read = self.requests.read_until(b'\n', &mut text);
            read.await.unwrap();
            let request: Request<Call> = parse(&text, usize::MAX).unwrap().unwrap();
            if fits(&request.call) {
                return request;
            }
            if self.is_reached && matches!(request.call, Call::Beat { .. }) {
                let beaten = Answer::Beaten {
                    last: 0,
                    revocation: 0,
                };
                self.answer(request.id, &beaten).await;
            }
        }
    }

    async fn answer(&mut self, id: u64, answer: &Answer) {
        let reply = line(&json!({ "id": id, "answer": answer })).unwrap();
        self.replies.write_all(&reply).await.unwrap();
    }
}

/// A replica that is registered with such a lease, a connection, and the store.
async fn begin(lease: Duration) -> (Arc<Shared>, Arc<Connection>, TestStore) {
    begin_with(lease, Budgets::default()).await
}

async fn begin_with(
    lease: Duration,
    budgets: Budgets,
) -> (Arc<Shared>, Arc<Connection>, TestStore) {
    let (ours, requests) = duplex(64 * 1024);
    let (replies, theirs) = duplex(64 * 1024);
    let mut store = TestStore {
        requests: BufReader::new(requests),
        replies,
        is_reached: lease == LONG,
    };
    let settings = SharedSettings {
        client: Client::start(theirs, ours),
        agents: String::new(),
        lease,
        admits_unowned: false,
        sessions_per_user: None,
        budgets,
        watch: Watch::new(|_| {}),
    };
    let registers = async {
        let asked = store.next(|call| matches!(call, Call::Register { .. }));
        let id = asked.await.id;
        let registered = Answer::Registered { generation: 7 };
        store.answer(id, &registered).await;
    };
    let (shared, ()) = tokio::join!(Shared::begin(settings, "one".to_owned()), registers);
    let shared = Arc::new(shared.unwrap());
    let registry = registry();
    let peer = ([127, 0, 0, 1], 9).into();
    let begun = registry.begin("one.0".to_owned(), &ann(), TransportKind::Http, peer);
    let connection = begun.unwrap();
    let kept = Arc::clone(&shared);
    tokio::spawn(async move { kept.keep(&registry).await });
    (shared, connection, store)
}

fn registry() -> Registry {
    let limits = Limits {
        connections: 3,
        connections_per_user: 3,
        sessions_per_user: 3,
        bodies_per_user: 3,
        turns: usize::MAX,
        pace: None,
        files: Files {
            all: 64,
            of_chain: 3,
        },
    };
    let node = "one".parse().unwrap();
    Registry::new(node, limits, TurnLimits::default(), None)
}

fn ann() -> Arc<User> {
    Arc::new(User {
        name: "ann".to_owned(),
        groups: vec!["staff".to_owned()],
    })
}

/// Asks for the lease of a session.
async fn lease(shared: Arc<Shared>, connection: Arc<Connection>) -> Result<Arc<Lease>, Denial> {
    shared.lease("session", TakeRule::New, &connection).await
}

/// Asks for the slot of a connection.
async fn slot(shared: Arc<Shared>) -> Result<Option<Slot>, Denial> {
    shared.slot_of_connection(&ann(), 1).await
}

/// Offers a ticket.
async fn redeem(shared: Arc<Shared>) -> Result<Option<String>, Denial> {
    shared.redeem("ticket".to_owned()).await
}

fn takes(call: &Call) -> bool {
    matches!(call, Call::Take { .. })
}

fn looks_for_lease(call: &Call) -> bool {
    matches!(call, Call::LeaseOf { .. })
}

fn occupies(call: &Call) -> bool {
    matches!(call, Call::Occupy { .. })
}

fn vacates(call: &Call) -> bool {
    matches!(call, Call::Vacate { .. })
}

#[tokio::test(start_paused = true)]
async fn a_slot_is_given_back_once_its_call_cannot_be_carried_out_any_longer() {
    let (shared, _connection, mut store) = begin(LONG).await;
    let asked = tokio::spawn(slot(shared));
    store.next(occupies).await;
    let denied = tokio::select! {
        denied = asked => denied.unwrap(),
        _ = store.next(|_| false) => unreachable!("no call fits"),
    };
    assert!(matches!(denied, Err(Denial::Unavailable(_))), "{denied:?}");
    let then = Instant::now();
    store.next(vacates).await;
    assert!(then.elapsed() >= LATE);
}

/// Asks for the lease of a session in vain: the store does not answer.
async fn ask_in_vain(shared: &Arc<Shared>, connection: &Arc<Connection>, store: &mut TestStore) {
    let asked = tokio::spawn(lease(Arc::clone(shared), Arc::clone(connection)));
    store.next(takes).await;
    let denied = tokio::select! {
        denied = asked => denied.unwrap(),
        _ = store.next(|_| false) => unreachable!("no call fits"),
    };
    assert!(matches!(denied, Err(Denial::Unavailable(_))), "{denied:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_released_once_the_call_that_took_it_cannot_be_carried_out_any_longer() {
    let (shared, connection, mut store) = begin(LONG).await;
    ask_in_vain(&shared, &connection, &mut store).await;
    let then = Instant::now();
    let asked = store.next(looks_for_lease).await;
    assert!(then.elapsed() >= LATE);
    store.answer(asked.id, &Answer::Number(8)).await;
    store
        .next(|call| matches!(call, Call::Release { fence } if fence.number == 8))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_was_taken_again_is_not_released() {
    let (shared, connection, mut store) = begin(LONG).await;
    ask_in_vain(&shared, &connection, &mut store).await;
    let leased = tokio::spawn(lease(Arc::clone(&shared), Arc::clone(&connection)));
    let take = store.next(takes).await;
    let taken = Answer::Leased { number: 9, lost: 0 };
    store.answer(take.id, &taken).await;
    let _lease = leased.await.unwrap().unwrap();
    let asked = store.next(looks_for_lease).await;
    store.answer(asked.id, &Answer::Number(9)).await;
    let releases = store.next(|call| matches!(call, Call::Release { .. }));
    assert!(timeout(LONG, releases).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn what_is_given_to_a_generation_that_is_over_is_given_back() {
    let (shared, connection, mut store) = begin(SHORTEST).await;
    // A second before the generation is over here, as no heartbeat is answered.
    sleep(SHORTEST.saturating_sub(MARGIN + Duration::from_secs(1))).await;
    let leased = tokio::spawn(lease(Arc::clone(&shared), connection));
    let take = store.next(takes).await;
    let occupied = tokio::spawn(slot(shared));
    let occupy = store.next(occupies).await;
    sleep(Duration::from_secs(2)).await;
    let taken = Answer::Leased { number: 8, lost: 0 };
    store.answer(take.id, &taken).await;
    store.answer(occupy.id, &Answer::Done).await;
    let denied = leased.await.unwrap();
    assert!(matches!(denied, Err(Denial::Unavailable(_))), "{denied:?}");
    let denied = occupied.await.unwrap();
    assert!(matches!(denied, Err(Denial::Unavailable(_))), "{denied:?}");
    // What is not answered is told again.
    store
        .next(|call| matches!(call, Call::Release { fence } if fence.number == 8))
        .await;
    store.next(vacates).await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_ends_with_a_lease_that_is_on_its_way_to_it() {
    let (shared, connection, mut store) = begin(SHORTEST).await;
    let leased = tokio::spawn(lease(shared, Arc::clone(&connection)));
    let take = store.next(takes).await;
    let taken = Answer::Leased { number: 8, lost: 0 };
    store.answer(take.id, &taken).await;
    let _lease = leased.await.unwrap().unwrap();
    assert!(!connection.is_ending());
    sleep(SHORTEST).await;
    assert!(connection.is_ending());
}

#[tokio::test(start_paused = true)]
async fn heartbeats_without_an_answer_are_counted() {
    let (shared, _connection, mut store) = begin(SHORTEST).await;
    assert_eq!(shared.calls.failed(), 0);
    store.next(|call| matches!(call, Call::Beat { .. })).await;
    sleep(SHORTEST).await;
    assert!(!shared.is_alive());
    assert!(shared.calls.failed() > 0);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_has_left_does_not_register_again() {
    let (shared, _connection, mut store) = begin(LONG).await;
    shared.leave().await;
    let registers = store.next(|call| matches!(call, Call::Register { .. }));
    assert!(timeout(LONG, registers).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn what_was_drawn_for_a_prompt_is_given_back_if_nobody_waits_for_the_rest() {
    let budgets = Budgets {
        prompts_of_user: Some(9),
        prompts_of_groups: [("staff".to_owned(), 9)].into(),
        ..Budgets::default()
    };
    let (shared, connection, mut store) = begin_with(LONG, budgets).await;
    let prompt =
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"session"}}"#;
    let message = Message::parse(prompt.into()).unwrap();
    let prompting = tokio::spawn(async move {
        let admitted = shared.admit(&message, None, None, &connection).await;
        admitted.map(drop)
    });
    let whose = store
        .next(|call| matches!(call, Call::Whose { .. }))
        .await
        .id;
    let owned = Answer::Owned {
        exactly: true,
        alike: true,
        by_others: false,
    };
    store.answer(whose, &owned).await;
    let take = store.next(takes).await;
    let taken = Answer::Leased { number: 8, lost: 0 };
    store.answer(take.id, &taken).await;
    let draws = |call: &Call| matches!(call, Call::Draw { .. });
    let granted = Answer::Drawn {
        granted: 1,
        again: 1000,
    };
    let first = store.next(draws).await;
    store.answer(first.id, &granted).await;
    store.next(draws).await;
    prompting.abort();
    store
        .next(|call| matches!(call, Call::GiveBack { account, amount: 1, .. } if account == "ann"))
        .await;
}

#[tokio::test(start_paused = true)]
async fn strangers_who_have_left_make_no_room_for_others_before_the_store_has_answered() {
    let (shared, _connection, mut store) = begin(LONG).await;
    let redeems = |call: &Call| matches!(call, Call::Redeem { .. });
    for _ in 0..REDEEMED {
        let offered = tokio::spawn(redeem(Arc::clone(&shared)));
        store.next(redeems).await;
        offered.abort();
    }
    let offered = tokio::spawn(redeem(shared));
    let looked_up = timeout(Duration::from_secs(1), store.next(redeems)).await;
    assert!(looked_up.is_err());
    // The store has six seconds for an answer.
    store.next(redeems).await;
    offered.abort();
}

//! What only a database of several replicas can show: calls at the same time, and one that is away or not ours.

use acp_chain_store::{Answer, Call, Store, TakeRule};
use acp_chain_tests::postgres::Postgres as Server;
use futures_util::future::join_all;

use super::{LONG, begin, done, leased, name, postgres, registered, take, unprepared};

/// How many replicas ask at the same time.
const MANY: usize = 16;

#[tokio::test]
async fn one_of_many_replicas_has_a_session_and_a_prompt_begins_once() {
    let server = Server::start();
    let url = server.url();
    let mut first = postgres(&url).await;
    let mut holders = Vec::new();
    for number in 0..MANY {
        holders.push(registered(&mut first, &format!("replica-{number}"), LONG).await);
    }
    let session = name("one", "ann");
    let taken = join_all(holders.iter().map(|holder| {
        let call = take(&session, holder, TakeRule::Unowned);
        let mut store = unprepared(&url);
        async move { store.carry_out(&call).await.unwrap() }
    }));
    let taken = taken.await;
    let has = |answer: &&Answer| matches!(answer, Answer::Leased { .. });
    assert_eq!(taken.iter().filter(has).count(), 1, "{taken:?}");
    let is_told = |answer: &&Answer| matches!(answer, Answer::Held { .. });
    assert_eq!(taken.iter().filter(is_told).count(), MANY - 1, "{taken:?}");
    let fence = leased(&mut first, &name("two", "ann"), &holders[0]).await;
    let begun = join_all((0..MANY).map(|_| {
        let call = begin(&fence, &holders[0], "k");
        let mut store = unprepared(&url);
        async move { store.carry_out(&call).await.unwrap() }
    }));
    let begun = begun.await;
    let is_first = |answer: &&Answer| **answer == Answer::Prompt(None);
    assert_eq!(begun.iter().filter(is_first).count(), 1, "{begun:?}");
}

#[tokio::test]
async fn a_budget_is_drawn_from_once_by_however_many() {
    let server = Server::start();
    let url = server.url();
    postgres(&url).await;
    let drawn = join_all((0..MANY).map(|_| {
        let mut store = unprepared(&url);
        async move {
            let call = Call::Draw {
                account: "ann".to_owned(),
                kind: "prompts".to_owned(),
                period: 0,
                limit: 10,
                amount: 1,
            };
            match done(&mut store, call).await {
                Answer::Drawn { granted, .. } => granted,
                other => panic!("{other:?}"),
            }
        }
    }));
    assert_eq!(drawn.await.iter().sum::<u64>(), 10);
}

#[tokio::test]
async fn a_database_that_cannot_be_used_is_an_error_that_says_what_to_do() {
    let mut server = Server::start();
    let mut store = unprepared(&server.url());
    let heads = Call::Heads;
    let told = store.carry_out(&heads).await.unwrap_err().to_string();
    assert!(told.contains("acp-chain serve --migrate"), "{told}");
    store.migrate().await.unwrap();
    assert_eq!(store.migrate().await, Ok(0));
    assert_eq!(
        done(&mut store, Call::Heads).await,
        Answer::Heads(Vec::new())
    );
    server.end();
    let told = store.carry_out(&heads).await.unwrap_err().to_string();
    assert!(told.contains("the database at /"), "{told}");
    server.start_again();
    // The same value goes on with it.
    assert_eq!(
        done(&mut store, Call::Heads).await,
        Answer::Heads(Vec::new())
    );
}

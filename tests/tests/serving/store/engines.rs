//! What both engines promise, each by itself.

use acp_chain_store::{Answer, Call, PromptState, Store, TakeRule, TicketUser};
use acp_chain_tests::postgres::Postgres as Server;

use super::{LONG, begin, done, embedded, leased, name, postgres, registered, take};

/// Plays all scenes to a store.
async fn play(store: &mut impl Store) {
    a_session_is_its_owners_and_one_replica_serves_it(store).await;
    a_replica_that_is_over_writes_nothing(store).await;
    a_prompt_begins_once_and_is_lost_with_its_replica(store).await;
    numbers_grow_also_after_the_store_has_lost_some(store).await;
    budgets_tickets_and_revocations(store).await;
}

#[tokio::test]
async fn in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    play(&mut embedded(folder.path())).await;
}

#[tokio::test]
async fn in_postgres() {
    let server = Server::start();
    play(&mut postgres(&server.url()).await).await;
}

async fn a_session_is_its_owners_and_one_replica_serves_it(store: &mut impl Store) {
    let a = registered(store, "a", LONG).await;
    let b = registered(store, "b", LONG).await;
    let (ann, bob) = (name("one", "ann"), name("one", "bob"));
    let unknown = done(store, take(&ann, &a, TakeRule::OwnedOnly)).await;
    assert_eq!(unknown, Answer::Unknown);
    leased(store, &ann, &a).await;
    let held = done(store, take(&ann, &b, TakeRule::OwnedOnly)).await;
    assert!(
        matches!(held, Answer::Held { again } if again > 0),
        "{held:?}"
    );
    let foreign = done(store, take(&bob, &b, TakeRule::Unowned)).await;
    assert_eq!(foreign, Answer::Foreign);
    let whose = |name: &acp_chain_store::LeaseName| Call::Whose {
        name: name.clone(),
        spelling: "one".to_owned(),
    };
    let owned = Answer::Owned {
        exactly: true,
        alike: true,
        by_others: false,
    };
    assert_eq!(done(store, whose(&ann)).await, owned);
    let others = Answer::Owned {
        exactly: false,
        alike: false,
        by_others: true,
    };
    assert_eq!(done(store, whose(&bob)).await, others);
    // An agent of his may begin another session of that name.
    leased(store, &bob, &b).await;
    assert_eq!(done(store, Call::Leave { holder: a }).await, Answer::Done);
    let taken = done(store, take(&ann, &b, TakeRule::OwnedOnly)).await;
    assert!(matches!(taken, Answer::Leased { lost: 0, .. }), "{taken:?}");
    let Answer::Sessions(sessions) = done(store, Call::Sessions { user: None }).await else {
        panic!("sessions are listed")
    };
    let by: Vec<_> = sessions
        .iter()
        .map(|one| (&*one.user, &*one.replica))
        .collect();
    assert_eq!(by, [("ann", "b"), ("bob", "b")]);
    done(store, Call::Leave { holder: b }).await;
}

async fn a_replica_that_is_over_writes_nothing(store: &mut impl Store) {
    // Its lease is over at once.
    let a = registered(store, "a", 0).await;
    let two = name("two", "ann");
    assert_eq!(
        done(store, take(&two, &a, TakeRule::New)).await,
        Answer::Gone
    );
    let beat = Call::Beat {
        holder: a.clone(),
        lease: LONG,
        seen: 0,
    };
    assert_eq!(done(store, beat).await, Answer::Gone);
    let again = registered(store, "a", LONG).await;
    assert!(again.generation > a.generation);
    let taken = Call::Register {
        replica: "a".to_owned(),
        lease: LONG,
        seen: 0,
    };
    let taken = done(store, taken).await;
    assert!(
        matches!(taken, Answer::NameTaken { again } if again > 0),
        "{taken:?}"
    );
    let fence = leased(store, &two, &again).await;
    assert_eq!(done(store, begin(&fence, &a, "k")).await, Answer::Fenced);
    assert_eq!(
        done(store, begin(&fence, &again, "k")).await,
        Answer::Prompt(None)
    );
    done(
        store,
        Call::Leave {
            holder: again.clone(),
        },
    )
    .await;
    assert_eq!(
        done(store, begin(&fence, &again, "l")).await,
        Answer::Fenced
    );
}

async fn a_prompt_begins_once_and_is_lost_with_its_replica(store: &mut impl Store) {
    let a = registered(store, "a", LONG).await;
    let three = name("three", "ann");
    let first = leased(store, &three, &a).await;
    let end = |prompt: &str| Call::End {
        fence: first.clone(),
        prompt: prompt.to_owned(),
    };
    assert_eq!(
        done(store, begin(&first, &a, "k")).await,
        Answer::Prompt(None)
    );
    let known = done(store, begin(&first, &a, "k")).await;
    assert_eq!(known, Answer::Prompt(Some(PromptState::UnderWay)));
    assert_eq!(done(store, end("k")).await, Answer::Done);
    let known = done(store, begin(&first, &a, "k")).await;
    assert_eq!(known, Answer::Prompt(Some(PromptState::Done)));
    assert_eq!(
        done(store, begin(&first, &a, "l")).await,
        Answer::Prompt(None)
    );
    done(store, Call::Leave { holder: a.clone() }).await;
    let b = registered(store, "b", LONG).await;
    let taken = done(store, take(&three, &b, TakeRule::OwnedOnly)).await;
    let Answer::Leased { number, lost: 1 } = taken else {
        panic!("{taken:?}")
    };
    assert!(number > first.number);
    // What the first one still writes is refused.
    assert_eq!(done(store, end("l")).await, Answer::Fenced);
    assert_eq!(done(store, begin(&first, &a, "m")).await, Answer::Fenced);
    let second = acp_chain_store::Fence {
        number,
        ..first.clone()
    };
    let known = done(store, begin(&second, &b, "l")).await;
    assert_eq!(known, Answer::Prompt(Some(PromptState::Lost)));
    done(store, Call::Release { fence: first }).await;
    assert_eq!(
        done(store, begin(&second, &b, "m")).await,
        Answer::Prompt(None)
    );
    done(store, Call::Tidy { prompts: LONG }).await;
    let known = done(store, begin(&second, &b, "l")).await;
    assert_eq!(known, Answer::Prompt(Some(PromptState::Lost)));
    done(store, Call::Leave { holder: b }).await;
}

async fn numbers_grow_also_after_the_store_has_lost_some(store: &mut impl Store) {
    let a = registered(store, "a", LONG).await;
    let beat = |seen| Call::Beat {
        holder: a.clone(),
        lease: LONG,
        seen,
    };
    let Answer::Beaten { last, .. } = done(store, beat(0)).await else {
        panic!("it is alive")
    };
    assert!(last >= a.generation);
    // It has seen more than there is.
    assert_eq!(done(store, beat(last + 1000)).await, Answer::Rewound);
    assert_eq!(done(store, beat(last + 1000)).await, Answer::Gone);
    let again = registered(store, "a", LONG).await;
    assert!(again.generation > last + 1000);
    done(store, Call::Leave { holder: again }).await;
}

async fn budgets_tickets_and_revocations(store: &mut impl Store) {
    let draw = |amount| Call::Draw {
        account: "ann".to_owned(),
        kind: "prompts".to_owned(),
        period: 0,
        limit: 10,
        amount,
    };
    for (amount, granted) in [(4, 4), (4, 4), (4, 2), (1, 0)] {
        let drawn = done(store, draw(amount)).await;
        assert!(
            matches!(drawn, Answer::Drawn { granted: found, .. } if found == granted),
            "{drawn:?}"
        );
    }
    let ticket = |life| Call::IssueTicket {
        digest: format!("digest-{life}"),
        user: TicketUser {
            name: "ann".to_owned(),
            groups: vec!["staff".to_owned()],
        },
        life,
    };
    let redeem = |life| Call::UseTicket {
        digest: format!("digest-{life}"),
    };
    done(store, ticket(LONG)).await;
    let redeemed = done(store, redeem(LONG)).await;
    assert!(matches!(redeemed, Answer::Ticket(Some(user)) if user.groups == ["staff"]));
    assert_eq!(done(store, redeem(LONG)).await, Answer::Ticket(None));
    done(store, ticket(0)).await;
    assert_eq!(done(store, redeem(0)).await, Answer::Ticket(None));
    let revoke = |user: &str| Call::Revoke {
        kind: "user".to_owned(),
        name: user.to_owned(),
    };
    let Answer::Number(first) = done(store, revoke("ann")).await else {
        panic!("it has a number")
    };
    done(store, revoke("bob")).await;
    let Answer::Revocations(since) = done(store, Call::Revoked { since: first }).await else {
        panic!("they are listed")
    };
    let names: Vec<_> = since.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["bob"]);
}

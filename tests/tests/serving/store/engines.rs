//! What both engines promise, each by itself.

use acp_chain_store::{
    Answer, Call, Fence, Holder, PromptState, SlotLimit, Store, TakeRule, UsedBudget,
};
use acp_chain_tests::postgres::start_postgres;

use super::{LONG, begin, done, embedded, has_begun, leased, name, postgres, registered, take};

/// Plays all scenes to a store.
async fn play(store: &mut impl Store) {
    a_session_is_its_owners_and_one_replica_serves_it(store).await;
    a_replica_that_is_over_writes_nothing(store).await;
    a_prompt_begins_once_and_is_lost_with_its_replica(store).await;
    budgets_and_revocations(store).await;
    slots_count_at_all_replicas_and_end_with_theirs(store).await;
    a_user_has_one_turn_from_all_lines_at_a_time(store).await;
    a_ticket_is_redeemed_once(store).await;
    // The last one: from then on, nothing is leased for a while.
    a_store_that_has_lost_something_ends_all_and_doubts_old_sessions(store).await;
}

#[tokio::test]
async fn in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    play(&mut embedded(folder.path())).await;
}

#[tokio::test]
async fn in_postgres() {
    let server = start_postgres();
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
    assert!(has_begun(&done(store, begin(&fence, &again, "k")).await));
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
    assert!(has_begun(&done(store, begin(&first, &a, "k")).await));
    let known = done(store, begin(&first, &a, "k")).await;
    assert_eq!(known, Answer::Prompt(PromptState::UnderWay));
    assert_eq!(done(store, end("k")).await, Answer::Done);
    let known = done(store, begin(&first, &a, "k")).await;
    assert_eq!(known, Answer::Prompt(PromptState::Done));
    assert!(has_begun(&done(store, begin(&first, &a, "l")).await));
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
    assert_eq!(known, Answer::Prompt(PromptState::Lost));
    done(store, Call::Release { fence: first }).await;
    assert!(has_begun(&done(store, begin(&second, &b, "m")).await));
    done(store, Call::Tidy { prompts: LONG }).await;
    let known = done(store, begin(&second, &b, "l")).await;
    assert_eq!(known, Answer::Prompt(PromptState::Lost));
    done(store, Call::Leave { holder: b }).await;
}

/// How long the leases are whose end is awaited, in milliseconds.
const SHORT: u64 = 200;

async fn a_store_that_has_lost_something_ends_all_and_doubts_old_sessions(store: &mut impl Store) {
    let beat = |holder: &Holder, lease, seen| Call::Beat {
        holder: holder.clone(),
        lease,
        seen,
    };
    let a = registered(store, "a", LONG).await;
    let b = registered(store, "b", LONG).await;
    let old = name("four", "ann");
    leased(store, &old, &a).await;
    // The last leases are short, since nothing is leased for as long.
    done(store, beat(&a, SHORT, 0)).await;
    let Answer::Beaten { last, .. } = done(store, beat(&b, SHORT, 0)).await else {
        panic!("it is alive")
    };
    assert!(last >= b.generation);
    // One has seen more than there is. Both are over.
    let seen = last + 1000;
    let told = done(store, beat(&a, SHORT, seen)).await;
    assert_eq!(told, Answer::Rewound);
    assert_eq!(done(store, beat(&a, SHORT, seen)).await, Answer::Gone);
    assert_eq!(done(store, beat(&b, SHORT, 0)).await, Answer::Gone);
    let again = registered(store, "a", LONG).await;
    assert!(again.generation > seen);
    // Until the leases are over of which the store may know nothing.
    let fence = loop {
        match done(store, take(&old, &again, TakeRule::OwnedOnly)).await {
            Answer::Resting { again } => assert!(again > 0),
            Answer::Leased { number, .. } => {
                break Fence {
                    name: old.clone(),
                    number,
                };
            }
            other => panic!("{other:?}"),
        }
    };
    for _ in 0..2 {
        let told = done(store, begin(&fence, &again, "unknown")).await;
        assert_eq!(told, Answer::Prompt(PromptState::Doubtful));
    }
    let new = leased(store, &name("five", "ann"), &again).await;
    assert!(has_begun(&done(store, begin(&new, &again, "k")).await));
    // So may a session be that was there before and that nobody owns.
    let unowned = name("six", "ann");
    let taken = done(store, take(&unowned, &again, TakeRule::Unowned)).await;
    let Answer::Leased { number, .. } = taken else {
        panic!("{taken:?}")
    };
    let fence = Fence {
        name: unowned,
        number,
    };
    let told = done(store, begin(&fence, &again, "k")).await;
    assert_eq!(told, Answer::Prompt(PromptState::Doubtful));
    // A ticket may have been used before that.
    let redeem = Call::Redeem {
        ticket: "before".to_owned(),
        seen: 0,
    };
    assert_eq!(done(store, redeem).await, Answer::Sealed(None));
    // Another caller finds the same with any call that has seen more.
    let call = Call::Take {
        name: name("seven", "ann"),
        spelling: "seven".to_owned(),
        holder: again,
        rule: TakeRule::New,
        most: None,
        seen: seen + 1000,
    };
    assert_eq!(done(store, call).await, Answer::Rewound);
}

async fn slots_count_at_all_replicas_and_end_with_theirs(store: &mut impl Store) {
    let a = registered(store, "a", LONG).await;
    let b = registered(store, "b", LONG).await;
    let limit = |kind: &str, account: &str, most| SlotLimit {
        kind: kind.to_owned(),
        account: account.to_owned(),
        most,
    };
    let occupy = |holder: &Holder, slot, limits: &[SlotLimit]| Call::Occupy {
        holder: holder.clone(),
        slot,
        limits: limits.to_vec(),
    };
    let (of_ann, of_bob) = (limit("turns", "ann", 2), limit("turns", "bob", 2));
    let of_staff = limit("turns-of-group", "staff", 2);
    for holder in [&a, &b] {
        let taken = occupy(holder, 1, &[of_ann.clone(), of_staff.clone()]);
        assert_eq!(done(store, taken).await, Answer::Done);
    }
    let full = done(store, occupy(&a, 2, &[of_ann])).await;
    assert_eq!(full, Answer::Full);
    let other = limit("connections", "ann", 1);
    assert_eq!(done(store, occupy(&a, 2, &[other])).await, Answer::Done);
    // Where one limit is reached, nothing counts for the others.
    let of_member = [of_bob, of_staff];
    let full = done(store, occupy(&b, 2, &of_member)).await;
    assert_eq!(full, Answer::Full);
    let used = |account: &str, kind: &str, used| (account.to_owned(), kind.to_owned(), used);
    let before = [
        used("ann", "connections", 1),
        used("ann", "turns", 2),
        used("staff", "turns-of-group", 2),
    ];
    assert_eq!(slots(store, None).await, before);
    for _ in 0..2 {
        let vacate = Call::Vacate {
            holder: b.clone(),
            slot: 1,
        };
        assert_eq!(done(store, vacate).await, Answer::Done);
    }
    assert_eq!(done(store, occupy(&b, 3, &of_member)).await, Answer::Done);
    done(store, Call::Leave { holder: a.clone() }).await;
    let after = [used("bob", "turns", 1), used("staff", "turns-of-group", 1)];
    assert_eq!(slots(store, None).await, after);
    assert_eq!(slots(store, Some("bob")).await, after[..1]);
    let gone = done(store, occupy(&a, 4, &of_member)).await;
    assert_eq!(gone, Answer::Gone);
    done(store, Call::Tidy { prompts: LONG }).await;
    assert_eq!(slots(store, None).await, after);
    done(store, Call::Leave { holder: b }).await;
}

/// The slots of an account or of all: the account, the kind, and how many.
async fn slots(store: &mut impl Store, account: Option<&str>) -> Vec<(String, String, u64)> {
    let account = account.map(str::to_owned);
    let Answer::Slots(list) = done(store, Call::Slots { account }).await else {
        panic!("they are listed")
    };
    let slots = list.into_iter();
    slots.map(|one| (one.account, one.kind, one.used)).collect()
}

async fn a_user_has_one_turn_from_all_lines_at_a_time(store: &mut impl Store) {
    let next = |user: &str, waited| Call::NextTurn {
        user: user.to_owned(),
        waited,
    };
    assert_eq!(done(store, next("ann", LONG)).await, Answer::Done);
    // In another line, she has waited since before that.
    assert_eq!(done(store, next("ann", LONG)).await, Answer::HadTurn);
    assert_eq!(done(store, next("bob", LONG)).await, Answer::Done);
    // There she came back since.
    assert_eq!(done(store, next("ann", 0)).await, Answer::Done);
}

async fn a_ticket_is_redeemed_once(store: &mut impl Store) {
    let issue = |ticket: &str, user: &str, life| Call::Issue {
        ticket: ticket.to_owned(),
        user: user.to_owned(),
        sealed: format!("of {user}"),
        life,
    };
    let redeem = |ticket: &str| Call::Redeem {
        ticket: ticket.to_owned(),
        seen: 0,
    };
    let valid = Answer::Sealed(Some("of ann".to_owned()));
    let none = Answer::Sealed(None);
    done(store, issue("of-bob", "bob", LONG)).await;
    done(store, issue("once", "ann", LONG)).await;
    done(store, issue("late", "ann", 0)).await;
    assert_eq!(done(store, redeem("once")).await, valid);
    for ticket in ["once", "late", "unknown"] {
        assert_eq!(done(store, redeem(ticket)).await, none, "{ticket}");
    }
    // The newest of a user stay, and those of others.
    for number in 0..20 {
        done(store, issue(&number.to_string(), "ann", LONG)).await;
    }
    let mut left = 0;
    for number in 0..20 {
        let found = done(store, redeem(&number.to_string())).await;
        left += u32::from(found == valid);
    }
    assert_eq!(left, 16);
    let of_bob = Answer::Sealed(Some("of bob".to_owned()));
    assert_eq!(done(store, redeem("of-bob")).await, of_bob);
    done(store, issue("before", "ann", LONG)).await;
}

async fn budgets_and_revocations(store: &mut impl Store) {
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
    let of_ann = Call::Budgets {
        account: Some("ann".to_owned()),
    };
    let used = UsedBudget {
        account: "ann".to_owned(),
        kind: "prompts".to_owned(),
        used: 10,
        left: 0,
    };
    assert_eq!(done(store, of_ann).await, Answer::Budgets(vec![used]));
    let hourly = Call::Draw {
        account: "staff".to_owned(),
        kind: "prompts-of-group".to_owned(),
        period: LONG,
        limit: 10,
        amount: 1,
    };
    done(store, hourly).await;
    // An hour may have ended since.
    let of_all = done(store, Call::Budgets { account: None }).await;
    assert!(
        matches!(&of_all, Answer::Budgets(list) if (1..=2).contains(&list.len())),
        "{of_all:?}"
    );
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

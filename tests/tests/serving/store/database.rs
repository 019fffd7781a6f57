//! What only a database of several replicas can show: calls at the same time, and one that is away or not ours.

use std::fs;
use std::path::Path;

use acp_chain_store::{
    Answer, Call, Holder, LeaseName, Postgres, PostgresPlace, SlotLimit, Store, TakeRule,
};
use acp_chain_tests::link::Link;
use acp_chain_tests::postgres::{
    start_encrypted_postgres, start_postgres, start_postgres_on_small_disk,
};
use acp_chain_tests::wire::in_time;
use futures_util::future::join_all;

use super::{LONG, begin, done, has_begun, leased, name, postgres, registered, take, unprepared};

/// How many replicas ask at the same time.
const MANY: usize = 16;

#[tokio::test]
async fn one_of_many_replicas_has_a_session_and_a_prompt_begins_once() {
    let server = start_postgres();
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
    let is_first = |answer: &&Answer| matches!(answer, Answer::Begun { .. });
    assert_eq!(begun.iter().filter(is_first).count(), 1, "{begun:?}");
}

#[tokio::test]
async fn a_budget_is_drawn_from_once_by_however_many() {
    let server = start_postgres();
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
async fn as_many_slots_as_may_be_are_taken_by_however_many() {
    let server = start_postgres();
    let url = server.url();
    let mut first = postgres(&url).await;
    let holder = registered(&mut first, "one", LONG).await;
    let limit = |kind: &str, account: &str| SlotLimit {
        kind: kind.to_owned(),
        account: account.to_owned(),
        most: 5,
    };
    let taken = join_all((0..MANY as u64).map(|slot| {
        let mut store = unprepared(&url);
        let mut limits = vec![limit("turns", "ann"), limit("turns-of-group", "staff")];
        // Whatever their order, no two wait for each other.
        if slot % 2 == 0 {
            limits.reverse();
        }
        let holder = holder.clone();
        async move {
            let call = Call::Occupy {
                holder,
                slot,
                limits,
            };
            done(&mut store, call).await
        }
    }));
    let taken = taken.await;
    let is = |expected: Answer| taken.iter().filter(|found| **found == expected).count();
    assert_eq!((is(Answer::Done), is(Answer::Full)), (5, MANY - 5));
}

#[tokio::test]
async fn a_database_that_cannot_be_used_is_an_error_that_says_what_to_do() {
    let mut server = start_postgres();
    let mut store = unprepared(&server.url());
    let any = Call::Replicas;
    let told = store.carry_out(&any).await.unwrap_err().to_string();
    assert!(told.contains("acp-chain serve --migrate"), "{told}");
    store.migrate().await.unwrap();
    assert_eq!(store.migrate().await, Ok(0));
    assert_eq!(
        done(&mut store, Call::Replicas).await,
        Answer::Replicas(Vec::new())
    );
    server.end();
    let told = store.carry_out(&any).await.unwrap_err().to_string();
    assert!(told.contains("the database at /"), "{told}");
    server.start_again();
    // The same value goes on with it.
    assert_eq!(
        done(&mut store, Call::Replicas).await,
        Answer::Replicas(Vec::new())
    );
}

#[tokio::test]
async fn a_restored_backup_is_noticed_however_little_it_lost() {
    let mut server = start_postgres();
    let mut store = postgres(&server.url()).await;
    let one = registered(&mut store, "one", LONG).await;
    let other = registered(&mut store, "other", LONG).await;
    let beat = |holder: &Holder| Call::Beat {
        holder: holder.clone(),
        lease: LONG,
        seen: 0,
    };
    assert!(matches!(
        done(&mut store, beat(&one)).await,
        Answer::Beaten { .. }
    ));
    server.end();
    server.back_up();
    server.start_again();
    // A crash alone loses nothing.
    let mut store = unprepared(&server.url());
    assert!(matches!(
        done(&mut store, beat(&one)).await,
        Answer::Beaten { .. }
    ));
    server.end();
    server.restore();
    server.start_again();
    // No number tells of it: this caller has seen none.
    let mut store = unprepared(&server.url());
    assert_eq!(done(&mut store, beat(&other)).await, Answer::Rewound);
    assert_eq!(done(&mut store, beat(&one)).await, Answer::Gone);
    let again = registered(&mut store, "one", LONG).await;
    let taken = done(&mut store, take(&name("one", "ann"), &again, TakeRule::New)).await;
    assert!(
        matches!(taken, Answer::Resting { again } if again > 0),
        "{taken:?}"
    );
}

#[tokio::test]
async fn a_standby_that_takes_over_without_the_last_writes_ends_all_and_owns_nothing_new() {
    let mut server = start_postgres();
    postgres(&server.url()).await;
    server.end();
    let mut standby = server.standby().unwrap();
    server.start_again();
    // Of both, the standby is passed over.
    let both = standby.url_or(&server);
    let mut store = unprepared(&both);
    let one = registered(&mut store, "one", LONG).await;
    let fence = leased(&mut store, &name("one", "ann"), &one).await;
    assert!(has_begun(&done(&mut store, begin(&fence, &one, "k")).await));
    follows(&standby.url()).await;
    standby.end();
    // What the standby never gets.
    leased(&mut store, &name("two", "ann"), &one).await;
    server.end();
    standby.start_again();
    let raw = connect(&standby.url()).await;
    raw.batch_execute("SELECT pg_promote()").await.unwrap();
    // No number tells of it: this caller has seen none.
    let mut store = unprepared(&both);
    let beat = Call::Beat {
        holder: one,
        lease: LONG,
        seen: 0,
    };
    assert_eq!(done(&mut store, beat.clone()).await, Answer::Rewound);
    assert_eq!(done(&mut store, beat).await, Answer::Gone);
    let again = registered(&mut store, "one", LONG).await;
    let taken = done(&mut store, take(&name("one", "ann"), &again, TakeRule::New)).await;
    assert!(
        matches!(taken, Answer::Resting { again } if again > 0),
        "{taken:?}"
    );
    for (session, is_owned) in [("one", true), ("two", false)] {
        let whose = Call::Whose {
            name: name(session, "ann"),
            spelling: session.to_owned(),
        };
        let owned = Answer::Owned {
            exactly: is_owned,
            alike: is_owned,
            by_others: false,
        };
        assert_eq!(done(&mut store, whose).await, owned);
    }
}

/// Waits until a standby has a prompt that its primary has.
async fn follows(standby: &str) {
    let raw = connect(standby).await;
    let follows = async {
        loop {
            let count = raw.query_one("SELECT count(*) FROM acp_chain_prompts", &[]);
            if count.await.unwrap().get::<_, i64>(0) == 1 {
                break;
            }
        }
    };
    in_time("what the primary has", follows).await;
}

#[tokio::test]
async fn tables_of_another_version_and_of_others_are_not_used() {
    let server = start_postgres();
    let url = server.url();
    postgres(&url).await;
    let raw = connect(&url).await;
    let versions = raw.query_one("SELECT version FROM acp_chain_schema", &[]);
    let own: i64 = versions.await.unwrap().get(0);
    for (version, told) in [
        (own + 1, "of a newer acp-chain"),
        (own - 1, "of an older acp-chain"),
    ] {
        let update = format!("UPDATE acp_chain_schema SET version = {version}");
        raw.batch_execute(&update).await.unwrap();
        let mut store = unprepared(&url);
        let error = store.carry_out(&Call::Replicas).await.unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
    let update = format!("UPDATE acp_chain_schema SET version = {own}");
    raw.batch_execute(&update).await.unwrap();
    // Rows that this program does not write are errors, and change nothing.
    let mut store = unprepared(&url);
    let one = registered(&mut store, "one", LONG).await;
    let fence = leased(&mut store, &name("one", "ann"), &one).await;
    assert!(has_begun(&done(&mut store, begin(&fence, &one, "k")).await));
    raw.batch_execute("UPDATE acp_chain_prompts SET state = 'other'")
        .await
        .unwrap();
    let error = store.carry_out(&begin(&fence, &one, "k")).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("restore it from a backup"), "{error}");
    raw.batch_execute("UPDATE acp_chain_replicas SET until = -1, beaten = -2")
        .await
        .unwrap();
    let error = store.carry_out(&Call::Replicas).await.unwrap_err();
    assert!(error.to_string().contains("below 0"), "{error}");
    // Tables of that name that others have made.
    raw.batch_execute("ALTER TABLE acp_chain_replicas RENAME COLUMN beaten TO other")
        .await
        .unwrap();
    let error = store.carry_out(&Call::Replicas).await.unwrap_err();
    assert!(error.to_string().contains("beaten"), "{error}");
}

#[tokio::test]
async fn a_generation_that_has_ended_is_over_for_statements_that_have_begun_before() {
    let server = start_postgres();
    let url = server.url();
    let mut store = postgres(&url).await;
    let raw = connect(&url).await;
    // A statement that waits for a row reads it again, and compares it with the time of its own beginning.
    let alive = "SELECT count(*) FROM acp_chain_replicas WHERE until > beaten";
    let one = registered(&mut store, "one", LONG).await;
    registered(&mut store, "other", LONG).await;
    for (call, answer, left) in [
        (
            Call::Leave {
                holder: one.clone(),
            },
            Answer::Done,
            1,
        ),
        (
            Call::Beat {
                holder: one,
                lease: LONG,
                seen: 1000,
            },
            Answer::Rewound,
            0,
        ),
    ] {
        assert_eq!(done(&mut store, call).await, answer);
        let count: i64 = raw.query_one(alive, &[]).await.unwrap().get(0);
        assert_eq!(count, left);
    }
    // They stay in the list for a while.
    done(&mut store, Call::Tidy { prompts: LONG }).await;
    let Answer::Replicas(replicas) = done(&mut store, Call::Replicas).await else {
        panic!("they are listed")
    };
    let left: Vec<_> = replicas.iter().map(|replica| replica.left).collect();
    assert_eq!(left, [0, 0]);
}

#[tokio::test]
async fn what_can_never_matter_again_is_tidied() {
    let server = start_postgres();
    let url = server.url();
    let mut store = postgres(&url).await;
    let raw = connect(&url).await;
    for (account, period) in [("past", LONG), ("present", LONG), ("ever", 0)] {
        let draw = Call::Draw {
            account: account.to_owned(),
            kind: "prompts".to_owned(),
            period,
            limit: 10,
            amount: 1,
        };
        done(&mut store, draw).await;
        let revoke = Call::Revoke {
            kind: "user".to_owned(),
            name: account.to_owned(),
        };
        done(&mut store, revoke).await;
    }
    raw.batch_execute(
        "UPDATE acp_chain_budgets SET period = 0 WHERE account = 'past';
        UPDATE acp_chain_revocations SET made = 0 WHERE name = 'past';
        INSERT INTO acp_chain_rewinds VALUES (1, 0, 0), (2, 0, 9000000000000)",
    )
    .await
    .unwrap();
    done(&mut store, Call::Tidy { prompts: LONG }).await;
    let left = "SELECT account FROM acp_chain_budgets \
                UNION ALL SELECT name FROM acp_chain_revocations \
                UNION ALL SELECT number::text FROM acp_chain_rewinds ORDER BY 1";
    let rows = raw.query(left, &[]).await.unwrap();
    let left: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(left, ["2", "ever", "ever", "present", "present"]);
}

#[tokio::test]
async fn the_longest_names_are_stored() {
    let server = start_postgres();
    let mut store = postgres(&server.url()).await;
    // An index has the names, and makes them shorter where it can.
    let text = sealed();
    let holder = registered(&mut store, &text[..256], LONG).await;
    let user = &text[1024..2048];
    let call = Call::Take {
        name: LeaseName {
            agents: text[256..512].to_owned(),
            session: text[512..768].to_owned(),
            user: user.to_owned(),
        },
        spelling: text[2048..3072].to_owned(),
        holder: holder.clone(),
        rule: TakeRule::New,
        most: None,
        seen: 0,
    };
    let taken = done(&mut store, call).await;
    assert!(matches!(taken, Answer::Leased { .. }), "{taken:?}");
    let limit = SlotLimit {
        kind: text[768..1024].to_owned(),
        account: user.to_owned(),
        most: 1,
    };
    let call = Call::Occupy {
        holder,
        slot: 1,
        limits: vec![limit],
    };
    assert_eq!(done(&mut store, call).await, Answer::Done);
}

#[tokio::test]
async fn a_database_that_is_read_only_or_slow_is_an_error_in_time() {
    let mut server = start_postgres();
    let url = server.url();
    let mut store = postgres(&url).await;
    let one = registered(&mut store, "one", LONG).await;
    let raw = connect(&url).await;
    // Another program has the row for longer than a call waits.
    raw.batch_execute("BEGIN; UPDATE acp_chain_replicas SET beaten = beaten")
        .await
        .unwrap();
    let beat = Call::Beat {
        holder: one,
        lease: LONG,
        seen: 0,
    };
    let error = store.carry_out(&beat).await.unwrap_err();
    assert!(error.to_string().contains("lock timeout"), "{error}");
    raw.batch_execute("ROLLBACK").await.unwrap();
    assert!(matches!(
        done(&mut store, beat.clone()).await,
        Answer::Beaten { .. }
    ));
    raw.batch_execute("ALTER DATABASE postgres SET default_transaction_read_only = on")
        .await
        .unwrap();
    // Of hosts that are all read-only, none is used.
    let error = unprepared(&url).carry_out(&beat).await.unwrap_err();
    assert!(error.to_string().contains("the database at /"), "{error}");
    server.pause(true);
    let error = unprepared(&url).carry_out(&beat).await.unwrap_err();
    assert!(error.to_string().contains("in time"), "{error}");
    server.pause(false);
    server.end();
}

#[tokio::test]
async fn a_full_disk_is_an_error_until_there_is_room() {
    let server = start_postgres_on_small_disk();
    let url = server.url();
    let mut store = postgres(&url).await;
    let raw = connect(&url).await;
    let [fills, empties] = server.fill_disk();
    raw.batch_execute(&fills).await.unwrap_err();
    // The first ones have room in pages that are there already.
    let mut number = 0;
    let error = loop {
        number += 1;
        let issue = Call::Issue {
            ticket: number.to_string(),
            user: number.to_string(),
            sealed: sealed(),
            life: LONG,
        };
        if let Err(error) = store.carry_out(&issue).await {
            break error.to_string();
        }
    };
    assert!(error.contains("free some space"), "{error}");
    raw.batch_execute(&empties).await.unwrap();
    registered(&mut store, "one", LONG).await;
    let redeem = Call::Redeem {
        ticket: number.to_string(),
        seen: 0,
    };
    // What failed has changed nothing.
    let redeemed = done(&mut store, redeem).await;
    assert_eq!(redeemed, Answer::Sealed(None));
}

#[tokio::test]
async fn an_encrypted_database_is_reached_only_if_its_certificate_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let [its_own, of_another] = ["own.pem", "other.pem"].map(|name| folder.path().join(name));
    let certified = rcgen::generate_simple_self_signed(["db.example.com".to_owned()]).unwrap();
    let another = rcgen::generate_simple_self_signed(["db.example.com".to_owned()]).unwrap();
    fs::write(&its_own, certified.cert.pem()).unwrap();
    fs::write(&of_another, another.cert.pem()).unwrap();
    let key = certified.signing_key.serialize_pem();
    let server = start_encrypted_postgres(&certified.cert.pem(), &key);
    let port = server.port();
    let named = format!("postgres://chain@db.example.com:{port}/postgres?hostaddr=127.0.0.1");
    let mut store = encrypted(&named, &its_own);
    store.migrate().await.unwrap();
    registered(&mut store, "one", LONG).await;
    let raw = connect(&server.url()).await;
    let encrypts = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                 WHERE ssl AND application_name = 'acp-chain'";
    let count: i64 = raw.query_one(encrypts, &[]).await.unwrap().get(0);
    assert!(count > 0);
    let by_address = format!("postgres://chain@127.0.0.1:{port}/postgres?sslmode=verify-full");
    for (url, authorities) in [(&named, &of_another), (&by_address, &its_own)] {
        let error = encrypted(url, authorities).carry_out(&Call::Replicas).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("certificate"), "{error}");
    }
    // One that does not encrypt is not asked without.
    let plain = start_postgres();
    let link = Link::to(plain.socket()).await;
    let url = format!(
        "postgres://chain@{}/postgres?sslmode=verify-full",
        link.address()
    );
    let error = encrypted(&url, &its_own).carry_out(&Call::Replicas).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("TLS"), "{error}");
}

#[tokio::test]
async fn a_call_over_a_network_that_stalls_or_breaks_is_an_error_in_time() {
    let server = start_postgres();
    let link = Link::to(server.socket()).await;
    let url = format!("postgres://chain@{}/postgres", link.address());
    let mut store = postgres(&url).await;
    let one = registered(&mut store, "one", LONG).await;
    let beat = Call::Beat {
        holder: one,
        lease: LONG,
        seen: 0,
    };
    link.stall();
    // The connection that is open, and a new one.
    for _ in 0..2 {
        let error = store.carry_out(&beat).await.unwrap_err().to_string();
        assert!(error.contains("in time"), "{error}");
    }
    link.cut();
    let error = store.carry_out(&beat).await.unwrap_err().to_string();
    assert!(error.contains("the database at 127.0.0.1"), "{error}");
    link.mend();
    let beaten = done(&mut store, beat).await;
    assert!(matches!(beaten, Answer::Beaten { .. }), "{beaten:?}");
}

/// A text that cannot be made shorter, as one that is sealed.
fn sealed() -> String {
    let mut state = 1_u64;
    let bytes = (0..40_000).map(|_| {
        // Numbers by Marsaglia's method (xorshift64).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    });
    data_encoding::BASE64URL_NOPAD.encode(&bytes.collect::<Vec<_>>())
}

/// A connection that verifies the database's certificate by these authorities.
fn encrypted(url: &str, authorities: &Path) -> Postgres {
    let place = PostgresPlace {
        url: url.to_owned(),
        password: None,
        authorities: Some(authorities.to_owned()),
        connections: 1,
    };
    Postgres::new(&place).unwrap()
}

/// A connection of another program.
pub async fn connect(url: &str) -> tokio_postgres::Client {
    let connected = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
    let (client, connection) = connected.unwrap();
    tokio::spawn(connection);
    client
}

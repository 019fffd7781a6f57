//! The store of what replicas must know together, in both engines; and values of proxies, wherever they are.

mod database;
mod disk;
mod engines;
mod model;
mod values;

use std::path::Path;

use acp_chain_store::{
    Answer, Call, Embedded, Fence, Holder, LeaseName, Postgres, PostgresPlace, Store, TakeRule,
};

/// A time that does not pass during a test, in milliseconds.
const LONG: u64 = 3_600_000;

/// A new store in a file.
fn embedded(folder: &Path) -> Embedded {
    Embedded::open(&folder.join("serve.db")).unwrap()
}

/// A connection to the store of a server, whose tables are made if there are none.
async fn postgres(url: &str) -> Postgres {
    let store = unprepared(url);
    store.migrate().await.unwrap();
    store
}

fn unprepared(url: &str) -> Postgres {
    let place = PostgresPlace {
        url: url.to_owned(),
        password: None,
        authorities: None,
        connections: 1,
    };
    Postgres::new(&place).unwrap()
}

async fn done(store: &mut impl Store, call: Call) -> Answer {
    store.carry_out(&call).await.unwrap()
}

/// A replica that has just been registered.
async fn registered(store: &mut impl Store, replica: &str, lease: u64) -> Holder {
    let call = Call::Register {
        replica: replica.to_owned(),
        lease,
        seen: 0,
    };
    let Answer::Registered { generation } = done(store, call).await else {
        panic!("{replica} is taken")
    };
    Holder {
        replica: replica.to_owned(),
        generation,
    }
}

/// A session of a user.
fn name(session: &str, user: &str) -> LeaseName {
    LeaseName {
        agents: "agents".to_owned(),
        session: session.to_owned(),
        user: user.to_owned(),
    }
}

fn take(name: &LeaseName, holder: &Holder, rule: TakeRule) -> Call {
    Call::Take {
        name: name.clone(),
        spelling: name.session.clone(),
        holder: holder.clone(),
        rule,
        most: None,
        seen: 0,
    }
}

/// The lease of a session.
async fn leased(store: &mut impl Store, name: &LeaseName, holder: &Holder) -> Fence {
    let taken = done(store, take(name, holder, TakeRule::New)).await;
    let Answer::Leased { number, .. } = taken else {
        panic!("{taken:?}")
    };
    Fence {
        name: name.clone(),
        number,
    }
}

fn begin(fence: &Fence, holder: &Holder, prompt: &str) -> Call {
    Call::Begin {
        fence: fence.clone(),
        holder: holder.clone(),
        prompt: prompt.to_owned(),
        seen: 0,
    }
}

/// Whether a prompt may be sent.
fn has_begun(answer: &Answer) -> bool {
    matches!(answer, Answer::Begun { .. })
}

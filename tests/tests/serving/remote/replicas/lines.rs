//! Lines of users who wait for a turn.

use super::super::served::prompt;
use super::{Client, KEY, World, seconds};

#[tokio::test]
async fn a_turn_beyond_the_limit_waits_for_another_to_end() {
    let world = World::new("[serve.limits]\nturns = 1\n").await;
    let one = world.replica("one").await;
    let ann = Client::of(&one, &world.ann).await;
    let bob = Client::of(&one, &world.bob).await;
    let of_ann = ann.session(&mut ann.hears().await).await;
    let of_bob = bob.session(&mut bob.hears().await).await;
    let begun = ann.says(&prompt(&of_ann, 3, "never")).await;
    assert_eq!(begun.status(), 202);
    let refused = bob.prompt(&of_bob, 3, "echo words", KEY).await;
    assert_eq!(refused.status(), 429);
    assert!(seconds(&refused) > 0);
    ann.delete().await;
    // With the same key: what was refused was not sent.
    loop {
        let sent = bob.prompt(&of_bob, 3, "echo words", KEY).await;
        if sent.status() == 202 {
            break;
        }
        assert_eq!(sent.status(), 429);
    }
}

#[tokio::test]
async fn who_had_a_turn_at_one_replica_lets_others_pass_at_another() {
    let world = World::new("[serve]\nstore = \"embedded\"\n[serve.limits]\nturns = 1\n").await;
    let (one, other) = (world.replica("one").await, world.replica("other").await);
    // A turn of Ann's runs at each replica.
    let (first, second) = (
        Client::of(&one, &world.ann).await,
        Client::of(&other, &world.ann).await,
    );
    for running in [&first, &second] {
        let session = running.session(&mut running.hears().await).await;
        let begun = running.says(&prompt(&session, 3, "never")).await;
        assert_eq!(begun.status(), 202);
    }
    // Bob stands in both lines, and Ann behind him in one of them.
    let (bob_at_one, bob_at_other, ann) = (
        Client::of(&one, &world.bob).await,
        Client::of(&other, &world.bob).await,
        Client::of(&other, &world.ann).await,
    );
    let mut asking = Vec::new();
    for client in [&bob_at_one, &bob_at_other, &ann] {
        let session = client.session(&mut client.hears().await).await;
        asking.push((client, session));
    }
    let ask = async |which: usize| {
        let (client, session) = &asking[which];
        let said = client.says(&prompt(session, 3, "echo words")).await;
        assert!([202, 429].contains(&said.status().as_u16()), "{said:?}");
        said.status() == 202
    };
    for which in 0..3 {
        assert!(!ask(which).await);
    }
    first.delete().await;
    // All come again as they are told, so that they keep their places.
    while !ask(0).await {
        assert!(!ask(1).await && !ask(2).await);
    }
    second.delete().await;
    loop {
        // He comes first whenever there is room, and has had a turn since he came.
        assert!(!ask(1).await);
        if ask(2).await {
            break;
        }
    }
    while !ask(1).await {}
}

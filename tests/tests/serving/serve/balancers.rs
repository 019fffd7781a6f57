//! Replicas behind each balancer, with the configuration of the examples.

use acp_chain_tests::web;
use acp_chain_tests::wire::in_time;

use super::balancer::{Balancer, Kind};
use super::drivers;
use super::replica::Replica;

#[tokio::test]
async fn haproxy_loses_no_turn_when_replicas_come_and_go() {
    replicas_come_and_go(Kind::Haproxy).await;
}

#[tokio::test]
async fn nginx_loses_no_turn_when_replicas_come_and_go() {
    replicas_come_and_go(Kind::Nginx).await;
}

#[tokio::test]
async fn envoy_loses_no_turn_when_replicas_come_and_go() {
    replicas_come_and_go(Kind::Envoy).await;
}

#[tokio::test]
async fn caddy_loses_no_turn_when_replicas_come_and_go() {
    replicas_come_and_go(Kind::Caddy).await;
}

async fn replicas_come_and_go(kind: Kind) {
    let (a, mut b) = (Replica::start("a").await, Replica::start("b").await);
    let balancer = Balancer::start(kind, [&a, &b]).await;

    // Both replicas have clients, and each client stays with its replica.
    let before = [a.connections(), b.connections()];
    for driver in drivers::all() {
        driver
            .plays(&balancer.address, Some(&balancer.certificate()))
            .await;
    }
    assert!(a.connections() > before[0] && b.connections() > before[1]);

    // A draining replica gets no new clients, and finishes its turns.
    let turn = balancer.connects_to("a").await.turn().await;
    a.drain();
    is_draining(&a).await;
    for _ in 0..8 {
        let connection = balancer.connects_in_the_end().await;
        assert_eq!(connection.node(), "b");
        connection.end().await;
    }
    balancer.knows_that_a_drains().await;
    turn.ends_well().await;

    // The turns of a killed replica are lost; new clients get the other replica, and none is refused.
    let a = a.replaced().await;
    balancer.connects_to("a").await.end().await;
    let turn = balancer.connects_to("b").await.turn().await;
    b.kill().await;
    for _ in 0..4 {
        let connection = balancer.connects().await.expect("one is left");
        assert_eq!(connection.node(), "a");
        connection.end().await;
    }
    turn.breaks().await;
    drop(a);
}

/// Waits until a replica is not ready.
async fn is_draining(replica: &Replica) {
    let (client, url) = (web::client(), format!("http://{}/readyz", replica.address));
    let draining = async { while client.get(&url).send().await.unwrap().status() != 503 {} };
    in_time("a replica that drains", draining).await;
}

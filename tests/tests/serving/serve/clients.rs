//! Clients of each SDK, and a server.

use super::drivers;
use super::replica::Replica;

#[tokio::test]
async fn clients_over_all_sdks_have_the_same_turns_over_http_and_over_websocket() {
    let replica = Replica::start("a").await;
    for driver in drivers::all() {
        driver.plays(&replica.address, None).await;
    }
    assert_eq!(replica.connections(), drivers::all().count());
}

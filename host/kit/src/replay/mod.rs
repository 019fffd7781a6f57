//! Plays one end of a recording, and compares the other end's messages with it.
//!
//! | file | what it is |
//! |---|---|
//! | `recording` | the messages of both ends, from a trace |
//! | `player` | the next message, and the expected ones |
//! | `same` | equality of messages, up to ids and times |
//! | `wire` | the other end: lines in, lines out |

mod player;
mod recording;
mod same;
mod wire;

use std::time::{Duration, Instant};

use tokio::time::sleep;

use self::player::Player;
use self::wire::WireEvent;
use acp_chain_channel::Peer;

pub use self::player::Difference;
pub use self::recording::{Recording, RecordingError};
pub use self::wire::{Wire, WireError};

/// The timing of a replay.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Divides the recorded pauses; `None` leaves them out.
    pub speed: Option<f64>,
    /// How long a client waits for a message. The client of an agent may be a person, so an agent waits without a
    /// limit.
    pub patience: Duration,
}

/// Plays a recording, and closes the connection. Returns the first difference.
pub async fn play(recording: Recording, mut wire: Wire, pace: Pace) -> Option<Difference> {
    let is_client = recording.side == Peer::Client;
    let patience = is_client.then_some(pace.patience);
    let mut player = Player::new(recording);
    let outcome = turns(&mut player, &mut wire, pace, is_client).await;
    wire.close(outcome.is_ok(), patience).await;
    outcome.err()
}

async fn turns(
    player: &mut Player,
    wire: &mut Wire,
    pace: Pace,
    is_client: bool,
) -> Result<(), Difference> {
    let patience = is_client.then_some(pace.patience);
    let mut last = Instant::now();
    loop {
        while let Some((wait, message)) = player.next() {
            if let Some(speed) = pace.speed {
                let wait = Duration::try_from_secs_f64(wait.as_secs_f64() / speed);
                let wait = wait.unwrap_or(Duration::MAX);
                sleep(wait.saturating_sub(last.elapsed())).await;
            }
            wire.send(&message);
            last = Instant::now();
        }
        // An agent waits for the end of its client.
        if player.is_done() && is_client {
            return Ok(());
        }
        match wire.receive(patience).await {
            WireEvent::Message(message) => player.take(message)?,
            WireEvent::Malformed(line) => return Err(player.malformed(line)),
            WireEvent::End if player.is_done() => return Ok(()),
            WireEvent::End => return Err(player.missing("the other side has ended")),
            WireEvent::Timeout => {
                let why = format!("nothing arrived within {} s", pace.patience.as_secs());
                return Err(player.missing(&why));
            }
        }
        last = Instant::now();
    }
}

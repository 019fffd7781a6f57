//! A network that loses and reorders packets, and breaks in two: two network namespaces, and a test that carries each
//! packet from one to the other.

use std::cell::Cell;
use std::fs::{self, File, Permissions};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{env, io};

use acp_chain_tests::host::token;
use acp_chain_tests::wire::in_time;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tun_rs::{AsyncDevice, DeviceBuilder};

use super::network::{Client, connecting};
use super::replica::Replica;

/// The address of each side.
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

/// The largest packet.
const MTU: u16 = 1500;

/// One in `LOST` packets is lost, and one in `OVERTAKEN` packets is overtaken by the next.
const LOST: u64 = 12;
const OVERTAKEN: u64 = 7;

/// How many packets a broken network discards before it is whole again.
const SWALLOWED: u32 = 5;

/// Set in the process that has the namespaces.
const VARIABLE: &str = "ACP_CHAIN_TEST_NAMESPACES";

#[tokio::test]
async fn turns_over_a_network_that_loses_packets_and_parts_lose_nothing() {
    // The creator of a user namespace has all rights over its networks.
    let mut inside = Command::new("unshare");
    inside
        .args(["--user", "--map-root-user", "--net"])
        .arg(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "serve::packets::inside"])
        .env(VARIABLE, "1")
        .kill_on_drop(true);
    let output = in_time("the turns", inside.output()).await.unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{told}"
    );
}

#[tokio::test]
#[ignore = "the other test starts it, in namespaces of its own"]
async fn inside() {
    if env::var_os(VARIABLE).is_none() {
        return;
    }
    let here = File::open("/proc/thread-self/ns/net").unwrap();
    let there = Namespace::start().await;
    let ours = device(CLIENT);
    enter(&there.network());
    let theirs = device(SERVER);
    let folder = tempfile::tempdir().unwrap();
    let certified = rcgen::generate_simple_self_signed([SERVER.to_string()]).unwrap();
    let [certificate, key, tokens] =
        ["cert.pem", "key.pem", "tokens"].map(|name| folder.path().join(name));
    fs::write(&certificate, certified.cert.pem()).unwrap();
    fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    let token = new_token(&tokens, &folder).await;
    let options = [
        ("--tls-cert", &certificate),
        ("--tls-key", &key),
        ("--tokens", &tokens),
    ];
    let replica = Replica::beyond_loopback(&format!("{SERVER}:0"), &options).await;
    enter(&here);

    let network = Network::new();
    let turns = async {
        for _ in 0..3 {
            let mut command = connecting(&replica.address, &certificate);
            command.arg("--connect-token-file").arg(&token);
            let mut client = Client::is_asked(command).await;
            // Messages sent now do not arrive until the network is whole again.
            network.parts();
            client.permits();
            client.has_whole_turn().await;
            assert!(!network.is_parted());
        }
    };
    tokio::select! {
        () = turns => {}
        () = network.carries(&ours, &theirs) => {}
        () = network.carries(&theirs, &ours) => {}
    }
    assert!(network.lost.get() > 0 && network.overtaken.get() > 0);
}

/// Another namespace, which ends on drop.
struct Namespace(Child);

impl Namespace {
    async fn start() -> Self {
        let mut holder = Command::new("unshare");
        holder
            .args(["--net", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        let holder = Self(holder.kill_on_drop(true).spawn().unwrap());
        let (here, there) = (Path::new("/proc/thread-self/ns/net"), holder.path());
        let entered = async {
            while fs::read_link(here).unwrap() == fs::read_link(&there).unwrap() {
                tokio::task::yield_now().await;
            }
        };
        in_time("a namespace", entered).await;
        holder
    }

    fn path(&self) -> PathBuf {
        let id = self.0.id().expect("the holder runs");
        format!("/proc/{id}/ns/net").into()
    }

    fn network(&self) -> File {
        File::open(self.path()).unwrap()
    }
}

/// Moves this thread, and what it starts, into that namespace.
fn enter(network: &File) {
    move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
}

/// A device at this address, in the namespace of this thread.
fn device(address: Ipv4Addr) -> AsyncDevice {
    let device = DeviceBuilder::new().mtu(MTU).ipv4(address, 24, None);
    device
        .build_async()
        .expect("a device; /dev/net/tun is needed")
}

/// A token that the server knows, in a file of its own.
async fn new_token(tokens: &Path, folder: &TempDir) -> PathBuf {
    let path = folder.path().join("token");
    fs::write(&path, token(tokens, "ann", &[]).await).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

/// The fate of each packet, which is the same in each run with the same packets.
struct Network {
    random: Cell<u64>,
    /// How many more packets are discarded.
    swallows: Cell<u32>,
    lost: Cell<u32>,
    overtaken: Cell<u32>,
}

impl Network {
    fn new() -> Self {
        Self {
            random: Cell::new(0x9e37_79b9_7f4a_7c15),
            swallows: Cell::new(0),
            lost: Cell::new(0),
            overtaken: Cell::new(0),
        }
    }

    fn parts(&self) {
        self.swallows.set(SWALLOWED);
    }

    fn is_parted(&self) -> bool {
        self.swallows.get() > 0
    }

    /// Xorshift.
    fn random(&self) -> u64 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        self.random.set(random);
        random
    }

    /// Carries packets one way.
    async fn carries(&self, from: &AsyncDevice, to: &AsyncDevice) {
        let mut overtaken: Option<Vec<u8>> = None;
        loop {
            let packet = packet(from).await.unwrap();
            if self.is_parted() {
                self.swallows.set(self.swallows.get() - 1);
            } else if self.random().is_multiple_of(LOST) {
                self.lost.set(self.lost.get() + 1);
            } else if overtaken.is_none() && self.random().is_multiple_of(OVERTAKEN) {
                self.overtaken.set(self.overtaken.get() + 1);
                overtaken = Some(packet);
            } else {
                for packet in [Some(packet), overtaken.take()].into_iter().flatten() {
                    to.send(&packet).await.unwrap();
                }
            }
        }
    }
}

async fn packet(device: &AsyncDevice) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; usize::from(MTU)];
    let len = device.recv(&mut packet).await?;
    packet.truncate(len);
    Ok(packet)
}

//! The whole protocol, through a chain of both kinds of proxies: all methods, their messages, and how a
//! connection begins.

mod begin;
mod everything;
mod sessions;

use acp_chain_tests::host::{InProcess, passing, proxy};
use acp_chain_tests::transcript::Transcript;
use acp_chain_tests::wire::Wire;

/// A chain of a native proxy, a component and another native proxy, which all forward everything.
async fn mixed() -> InProcess {
    let transcript = Transcript::new();
    let component = proxy("component", "pass", "{}").await;
    let members = vec![
        passing("before", &transcript).into(),
        component.into(),
        passing("behind", &transcript).into(),
    ];
    InProcess::of(members, &transcript)
}

/// A request with these params crosses the chain unchanged, and so does this answer to it.
async fn crosses(near: &mut Wire, far: &mut Wire, method: &str, params: &str, result: &str) {
    let id = near.ask(method, params);
    let came = far.receive().await.expect("the request arrives");
    assert_eq!(came.method.as_deref(), Some(method));
    assert_eq!(came.params.as_deref(), Some(params));
    far.send_all(came.result(result));
    let answer = near.response(&id).await;
    assert_eq!(answer.result.as_deref(), Some(result), "{method}");
}

/// A notification with these params crosses the chain unchanged.
async fn arrives(near: &mut Wire, far: &mut Wire, method: &str, params: &str) {
    near.notify(method, params);
    let came = far.receive().await.expect("the notification arrives");
    assert_eq!(
        (came.method.as_deref(), came.id.as_deref()),
        (Some(method), None)
    );
    assert_eq!(came.params.as_deref(), Some(params));
}

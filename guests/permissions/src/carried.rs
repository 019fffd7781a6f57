//! What the agent has the client do: files that it reads and writes there, and commands that it runs there. An agent
//! asks before where it finds that necessary, and its hooks may have reported the call. So a rule that asks has had its
//! turn, and only a rule that denies counts.

use acp_chain_calls::request::PermissionRequest;
use acp_chain_proxy::acp::{READ, WRITE};
use acp_chain_proxy::{Action, Error, Request, info};

use crate::reports::Ruling;
use crate::rule::Decision;
use crate::runs::REFUSED;
use crate::{Judged, Judgement, Permissions};

pub(crate) const CREATE: &str = "terminal/create";

/// The members of a `terminal/create` that say what runs, and where. Values of its environment would be taken for paths.
const OF_COMMAND: &[&str] = &["command", "args", "cwd"];

impl Permissions {
    /// Refuses what a rule denies.
    pub(crate) fn carry(&self, request: &Request) -> Action {
        let session = request.head.session.as_deref();
        let mut asked = PermissionRequest::default();
        asked.call.merge(&call_of(request));
        let Judged { judgement, title } = self.judge(session, &asked);
        let Judgement::Rule(number, rule) = judgement else {
            return Action::Forward;
        };
        let decision = rule.decision;
        if decision != Decision::Deny {
            return Action::Forward;
        }
        info!("rule {number}: refused {title}, which the client was to do for the agent");
        let ruling = Ruling {
            number,
            decision,
            title,
        };
        let version = self.state.version.get();
        self.reports
            .refused(version, session.unwrap_or_default(), &ruling);
        Action::Reject(Error::new(REFUSED, ruling.reason()))
    }
}

/// The request as a call, in JSON. Its members keep their spelling: half of a surrogate pair, which no `Value` holds, would
/// hide a path, or all arguments.
fn call_of(request: &Request) -> String {
    let params = request.params.spelling();
    let member = |name: &str| {
        let place = request.params.place(&format!("/{name}"))?;
        params.get(place)
    };
    let path = member("path").unwrap_or("null");
    let kind = match &*request.head.method {
        READ => "read",
        WRITE => "edit",
        _ => {
            let named = OF_COMMAND.iter();
            let given = named.filter_map(|name| Some(format!(r#""{name}":{}"#, member(name)?)));
            let members: Vec<_> = given.collect();
            let input = members.join(",");
            return format!(r#"{{"kind":"execute","rawInput":{{{input}}}}}"#);
        }
    };
    format!(r#"{{"kind":"{kind}","title":{path},"locations":[{{"path":{path}}}]}}"#)
}

//! Every method, direction and place of the protocol's schemas belongs to a power, or is fixed. After an update of the
//! schemas, these tests fail until a new method or place is assigned.

use std::collections::BTreeSet;

use acp_chain_acp::{AFTER_TOOL, BEFORE_TOOL, METHODS, UPDATES};
use acp_chain_powers::{Actions, FIXED, Kind, Kinds, Peer, Places, Power, Subject, Updates};
use serde_json::Value;

/// The maximum depth of places. Deeper places belong to the power of their parent.
const DEEPEST: usize = 8;

struct Schema(Value);

/// Messages of one method, one side and one kind.
struct Sort {
    sender: Peer,
    kind: Kind,
    method: String,
    definition: String,
}

impl Schema {
    fn read(version: &str) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../messages/schema");
        let path = format!("{folder}/{version}.json");
        let text = std::fs::read_to_string(&path).expect(&path);
        Self(serde_json::from_str(&text).expect("a schema"))
    }

    fn definition(&self, name: &str) -> &Value {
        &self.0["$defs"][name]
    }

    /// The messages that the schema describes, by the suffixes of its definitions.
    fn sorts(&self) -> Vec<Sort> {
        let mut sorts = Vec::new();
        for (name, definition) in self.0["$defs"].as_object().expect("definitions") {
            let Some(method) = definition["x-method"].as_str() else {
                continue;
            };
            let handlers = match definition["x-side"].as_str().expect("a side") {
                "agent" => vec![Peer::Agent],
                "client" => vec![Peer::Client],
                _ => vec![Peer::Agent, Peer::Client],
            };
            for handler in handlers {
                let (sender, kind) = match name {
                    name if name.ends_with("Request") => (handler.opposite(), Kind::Request),
                    name if name.ends_with("Response") => (handler, Kind::Result),
                    name if name.ends_with("Notification") => {
                        (handler.opposite(), Kind::Notification)
                    }
                    name => panic!("{name} is not a message"),
                };
                let (method, definition) = (method.to_owned(), name.clone());
                sorts.push(Sort {
                    sender,
                    kind,
                    method,
                    definition,
                });
            }
        }
        sorts
    }

    /// The pointers to the leaves of a value of this schema.
    fn places(&self, schema: &Value) -> BTreeSet<String> {
        let mut places = BTreeSet::new();
        self.collect(schema, String::new(), &mut Vec::new(), &mut places);
        // If a value may be null, or an object with places, only those places count.
        let within = |place: &str| {
            places
                .iter()
                .any(|other| other.starts_with(&format!("{place}/")))
        };
        places
            .iter()
            .filter(|place| !within(place))
            .cloned()
            .collect()
    }

    fn collect<'s>(
        &'s self,
        schema: &'s Value,
        place: String,
        within: &mut Vec<&'s str>,
        places: &mut BTreeSet<String>,
    ) {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().expect("a name");
            if within.contains(&name) || within.len() > DEEPEST {
                places.insert(place);
                return;
            }
            within.push(name);
            self.collect(self.definition(name), place, within, places);
            within.pop();
            return;
        }
        let mut leaf = true;
        for choice in ["allOf", "anyOf", "oneOf"] {
            for one in schema[choice].as_array().into_iter().flatten() {
                leaf = false;
                self.collect(one, place.clone(), within, places);
            }
        }
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            leaf = false;
            self.collect(member, format!("{place}/{name}"), within, places);
        }
        if schema["items"].is_object() {
            leaf = false;
            self.collect(&schema["items"], format!("{place}/0"), within, places);
        }
        if schema["additionalProperties"].is_object() {
            leaf = false;
            let values = &schema["additionalProperties"];
            self.collect(values, format!("{place}/0"), within, places);
        }
        if leaf {
            places.insert(place);
        }
    }

    /// The schema of each `session/update`, by its kind.
    fn updates(&self) -> Vec<(String, &Value)> {
        let choices = self.definition("SessionUpdate");
        let choices = choices["oneOf"].as_array().or(choices["anyOf"].as_array());
        let named = choices.expect("choices").iter().filter_map(|choice| {
            let name = choice["properties"]["sessionUpdate"]["const"].as_str()?;
            Some((name.to_owned(), choice))
        });
        named.collect()
    }
}

fn schemas() -> [Schema; 2] {
    ["v1", "v2"].map(Schema::read)
}

fn is_fixed(subject: &Subject, place: Option<&str>) -> bool {
    FIXED.iter().any(|fixed| {
        let about = (fixed.methods.is_empty() || fixed.methods.contains(&subject.method))
            && fixed.kinds.has(subject.kind)
            && match (fixed.updates, subject.update) {
                (Updates::Of(list) | Updates::Replayed(list), Some(update)) => {
                    list.contains(&update)
                }
                (Updates::Of(_) | Updates::Replayed(_), None) => false,
                (Updates::None | Updates::Unknown, _) => true,
            };
        about
            && (fixed.places.is_empty()
                || place.is_some_and(|place| {
                    Places::new(fixed.places.iter().copied(), "own").contain(place)
                }))
    })
}

fn is_changeable(subject: &Subject, place: &str) -> bool {
    let covers = Power::all().flat_map(|power| power.covers);
    let mut covers = covers.filter(|cover| {
        cover.actions.intersects(Actions::CHANGE)
            && cover.methods.contains(&subject.method)
            && cover.is_about(subject)
    });
    covers.any(|cover| Places::new(cover.places.iter().copied(), "own").contain(place))
}

/// Calls `then` for each sort of message, with the schema of its body. Each kind of update is a sort.
fn each(mut then: impl FnMut(&Schema, Subject, &Value)) {
    for schema in &schemas() {
        for sort in schema.sorts() {
            let subject = Subject {
                sender: sort.sender,
                kind: sort.kind,
                method: &sort.method,
                update: None,
                is_replayed: false,
            };
            let body = schema.definition(&sort.definition);
            if sort.method != "session/update" {
                then(schema, subject, body);
                continue;
            }
            for (update, choice) in schema.updates() {
                let body = serde_json::json!({ "properties": {
                    "sessionId": {}, "_meta": {}, "update": choice,
                } });
                let update = Some(&*update);
                then(schema, Subject { update, ..subject }, &body);
            }
        }
    }
}

#[test]
fn every_message_of_the_schemas_can_be_read_by_a_power_or_is_the_hosts() {
    let mut missing = BTreeSet::new();
    each(|_, subject, _| {
        let covers = Power::all().flat_map(|power| power.covers);
        let mut readable = covers.filter(|cover| {
            cover.actions.intersects(Actions::READ) && cover.methods.contains(&subject.method)
        });
        if !is_fixed(&subject, None) && !readable.any(|cover| cover.is_about(&subject)) {
            missing.insert(format!("{subject:?}"));
        }
    });
    assert!(
        missing.is_empty(),
        "no power, and not the host's: {missing:#?}"
    );
}

#[test]
fn every_place_of_the_schemas_belongs_to_a_power_or_is_fixed() {
    let mut missing = BTreeSet::new();
    each(|schema, subject, body| {
        for place in schema.places(body) {
            let meta = place.ends_with("/_meta");
            if !meta && !is_fixed(&subject, Some(&place)) && !is_changeable(&subject, &place) {
                let Subject {
                    sender,
                    kind,
                    method,
                    update,
                    ..
                } = subject;
                let update = update.unwrap_or_default();
                missing.insert(format!(
                    "{method} {kind:?} {} {update} {place}",
                    sender.as_str()
                ));
            }
        }
    });
    assert!(
        missing.is_empty(),
        "neither changeable nor fixed:\n{}",
        missing.into_iter().collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn a_place_is_never_both_changeable_and_fixed() {
    each(|schema, subject, body| {
        let places = schema.places(body);
        for place in places.iter().filter(|place| !place.ends_with("/_meta")) {
            let both = is_fixed(&subject, Some(place)) && is_changeable(&subject, place);
            assert!(!both, "{subject:?} {place}");
        }
    });
}

#[test]
fn every_name_in_the_table_is_in_the_schemas() {
    /// Methods of dialects that released software still uses.
    const OLDER: &[&str] = &["mcp/connect", "mcp/disconnect"];
    /// Requests of the host.
    const OWN: &[&str] = &[BEFORE_TOOL, AFTER_TOOL];
    let (mut methods, mut updates) = (BTreeSet::new(), BTreeSet::new());
    each(|_, subject, _| {
        methods.insert(subject.method.to_owned());
        updates.extend(subject.update.map(str::to_owned));
    });
    for method in Power::all().flat_map(Power::methods) {
        assert!(
            methods.contains(method) || OLDER.contains(&method) || OWN.contains(&method),
            "{method}"
        );
    }
    assert_eq!(
        updates,
        UPDATES.iter().map(|&update| update.to_owned()).collect()
    );
    for cover in Power::all().flat_map(|power| power.covers) {
        if let Updates::Of(list) | Updates::Replayed(list) = cover.updates {
            assert!(
                list.iter().all(|update| UPDATES.contains(update)),
                "{list:?}"
            );
        }
        assert!(
            !cover.kinds.intersects(Kinds::REQUEST) || !cover.methods.contains(&"session/update")
        );
    }
}

#[test]
fn powers_over_session_setup_cover_every_setup_method() {
    let begin = METHODS.iter().filter(|method| method.life.sets_up());
    let begin: BTreeSet<_> = begin.map(|method| method.name).collect();
    for key in [
        "session-setup.read",
        "session-setup.change",
        "instructions.change",
    ] {
        let power = Power::named(key).expect("a power");
        assert_eq!(power.methods().collect::<BTreeSet<_>>(), begin, "{key}");
    }
}

#[test]
fn every_power_has_its_own_description() {
    let keys: BTreeSet<_> = Power::all().map(|power| power.key).collect();
    let words: BTreeSet<_> = Power::all().map(|power| power.words).collect();
    assert_eq!(
        (keys.len(), words.len()),
        (Power::all().count(), Power::all().count())
    );
    for power in Power::all() {
        assert!(
            !power.reason.is_empty() && !power.reason.ends_with('.'),
            "{}",
            power.key
        );
        assert!(
            power
                .needs
                .is_none_or(|needed| Power::named(needed).is_some())
        );
    }
}

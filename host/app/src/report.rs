//! What services report.

/// Shows the user what a service does.
pub trait Report: Sync {
    /// Loads the component of a proxy, which may take seconds.
    fn while_loading(&self, _proxy: &str, load: &mut dyn FnMut()) {
        load();
    }

    /// A server accepts connections of clients.
    fn listens(&self, _url: &str) {}

    /// A server has metrics.
    fn has_metrics(&self, _url: &str) {}

    /// Something is wrong that does not stop a server, or that no client was told. Text from outside is escaped
    /// already.
    fn warns(&self, _text: &str) {}

    /// News for a developer. Text from outside is escaped already.
    fn news(&self, _text: &str) {}
}

/// Shows nothing.
pub struct Silent;

impl Report for Silent {}

//! The screen: what is drawn of the model, and what keys do. Nothing here reads a terminal.

use std::time::Instant;

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row, Table, TableState, Wrap};

use super::model::{Chain, Model, Proxy, Sort};
use super::rows::{COLUMNS, cells, name, reason, title};

/// Below this height there is no room for details.
const DETAILED: u16 = 14;

/// How high the details are.
const DETAILS: u16 = 7;

/// How wide the columns are, behind the first.
const WIDTHS: [u16; COLUMNS.len() - 1] = [8, 8, 11, 11, 10, 8, 7, 5];

const HELP: &str = "\
↑ ↓ or k j  select a proxy
o           the order of the chain
m           most messages first
w           slowest first, by the work of one in a hundred
b           most memory first
r           most restarts first
?           this help
q           quit

WORK and WAIT: half of all messages took no longer
than the first time, and 99 % no longer than the second.
DENIED is told when a proxy ends.";

/// What the user has chosen.
#[derive(Debug, Default)]
pub struct Screen {
    sort: Sort,
    /// The chain's process and connection, and the proxy.
    selected: Option<(u32, Option<String>, String)>,
    has_help: bool,
    table: TableState,
}

/// What stands in a row.
enum Shown<'m> {
    Chain(&'m Chain),
    Proxy(&'m Chain, &'m Proxy),
}

impl Screen {
    /// Does what a key says. Whether to go on.
    pub fn key(&mut self, key: KeyCode, model: &Model, now: Instant) -> bool {
        if self.has_help {
            self.has_help = false;
            return key != KeyCode::Char('q');
        }
        match key {
            KeyCode::Char('q') => return false,
            KeyCode::Char('?') => self.has_help = true,
            KeyCode::Char('o') => self.sort = Sort::Chain,
            KeyCode::Char('m') => self.sort = Sort::Messages,
            KeyCode::Char('w') => self.sort = Sort::Work,
            KeyCode::Char('b') => self.sort = Sort::Memory,
            KeyCode::Char('r') => self.sort = Sort::Restarts,
            KeyCode::Up | KeyCode::Char('k') => self.step(model, now, false),
            KeyCode::Down | KeyCode::Char('j') => self.step(model, now, true),
            _ => {}
        }
        true
    }

    /// Selects the next proxy, or the one before.
    fn step(&mut self, model: &Model, now: Instant, is_down: bool) {
        let rows = self.rows(model, now);
        let keys: Vec<_> = rows.iter().filter_map(Shown::key).collect();
        let at = keys
            .iter()
            .position(|key| Some(key) == self.selected.as_ref());
        let next = match (at, is_down) {
            (None, _) => 0,
            (Some(at), true) => (at + 1).min(keys.len().saturating_sub(1)),
            (Some(at), false) => at.saturating_sub(1),
        };
        self.selected = keys.into_iter().nth(next);
    }

    fn rows<'m>(&self, model: &'m Model, now: Instant) -> Vec<Shown<'m>> {
        let mut rows = Vec::new();
        for chain in model.chains() {
            rows.push(Shown::Chain(chain));
            let proxies = chain.sorted(self.sort, now).into_iter();
            rows.extend(proxies.map(|proxy| Shown::Proxy(chain, proxy)));
        }
        rows
    }

    /// Draws all of it.
    pub fn draw(&mut self, frame: &mut Frame, model: &Model, now: Instant) {
        let rows = self.rows(model, now);
        let is_selected = |row: &Shown| row.key().is_some() && row.key() == self.selected;
        let selected = rows.iter().position(is_selected);
        let area = frame.area();
        let details = match selected {
            Some(_) if area.height >= DETAILED => DETAILS,
            _ => 0,
        };
        let parts = [
            Constraint::Min(1),
            Constraint::Length(details),
            Constraint::Length(1),
        ];
        let [table, pane, foot] = Layout::vertical(parts).areas(area);
        self.draw_table(frame, table, &rows, selected, now);
        if let Some(Shown::Proxy(_, proxy)) = selected.map(|at| &rows[at])
            && details > 0
        {
            draw_details(frame, pane, proxy);
        }
        let sorted = match self.sort {
            Sort::Chain => "in the order of the chain",
            Sort::Messages => "by messages",
            Sort::Work => "by work",
            Sort::Memory => "by memory",
            Sort::Restarts => "by restarts",
        };
        let words = format!("{sorted}   ↑↓ select   ? help   q quit");
        frame.render_widget(Line::from(words).dim(), foot);
        if self.has_help {
            draw_help(frame, area);
        }
    }

    fn draw_table(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        rows: &[Shown],
        selected: Option<usize>,
        now: Instant,
    ) {
        if rows.is_empty() {
            let words = "No chain runs. `acp-chain run`, `try` and `dev` show up here.";
            frame.render_widget(Paragraph::new(words).wrap(Wrap::default()), area);
            return;
        }
        // A chain's own words have the width of all columns.
        let lines = rows.iter().map(|row| match row {
            Shown::Chain(chain) => Row::new([Cell::new(title(chain).bold())]),
            Shown::Proxy(chain, proxy) => {
                let cells = cells(chain, proxy, now).map(|text| Cell::new(Span::raw(text)));
                let is_well = proxy.failures.is_empty() && proxy.denied == 0;
                let style = match is_well {
                    true => Style::new(),
                    false => Style::new().red(),
                };
                Row::new(cells).style(style)
            }
        });
        let widths = WIDTHS.map(Constraint::Length);
        let widths = std::iter::once(Constraint::Min(12)).chain(widths);
        let head = Row::new(COLUMNS).dim();
        let drawn = Table::new(lines, widths)
            .header(head)
            .row_highlight_style(Style::new().reversed());
        self.table.select(selected);
        frame.render_stateful_widget(drawn, area, &mut self.table);
        let top = self.table.offset();
        let visible = rows.iter().enumerate().skip(top);
        for ((_, row), y) in visible.zip(area.y + 1..area.bottom()) {
            if let Shown::Chain(chain) = row {
                let line = Rect::new(area.x, y, area.width, 1);
                frame.render_widget(Line::from(title(chain)).bold(), line);
            }
        }
    }
}

impl Shown<'_> {
    /// What tells a proxy from all others.
    fn key(&self) -> Option<(u32, Option<String>, String)> {
        match self {
            Self::Chain(_) => None,
            Self::Proxy(chain, proxy) => {
                let connection = chain.heading.as_ref();
                let connection = connection.map(|line| line.connection.clone());
                Some((chain.process, connection, proxy.id.clone()))
            }
        }
    }
}

fn draw_details(frame: &mut Frame, area: Rect, proxy: &Proxy) {
    let failures = proxy.failures.iter().map(|(time, why)| {
        let time = time.split_once('T').map_or("", |(_, time)| time);
        Line::from(vec![
            Span::raw(name(time)).dim(),
            Span::raw(format!(" {}", reason(why))),
        ])
    });
    let mut lines: Vec<_> = failures.collect();
    if lines.is_empty() {
        lines.push(Line::from("It has not failed while this listened.").dim());
    }
    let block = Block::bordered().title(name(&proxy.id));
    let text = Paragraph::new(lines)
        .wrap(Wrap { trim: false })
        .block(block);
    frame.render_widget(text, area);
}

fn draw_help(frame: &mut Frame, area: Rect) {
    let (width, height) = (60, 14);
    let area = area.centered(
        Constraint::Length(area.width.min(width)),
        Constraint::Length(area.height.min(height)),
    );
    frame.render_widget(Clear, area);
    let block = Block::bordered().title("acp-chain top");
    frame.render_widget(Paragraph::new(HELP).block(block), area);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use acp_chain_live::Found;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    const LINES: &str = r#"
{"time":"2026-11-23T20:00:00.5Z","version":1,"connection":"x","role":"agent","proxies":["rules","redact"],"agent":"gemini"}
{"proxy":"rules","state":"running","restarts":0,"memory":1048576}
{"proxy":"redact","state":"running","restarts":2,"memory":4194304}
{"from":"client","to":"rules","kind":"notification","method":"m","waited":7}
{"proxy":"rules","decision":"forward","method":"m","worked":1200}
{"time":"2026-11-23T20:00:01Z","proxy":"redact","state":"failed","restarts":2,"why":"it \u001b[31mbroke\u0007"}
"#;

    fn model(now: Instant) -> Model {
        let found = Found {
            path: "/s".into(),
            process: 7,
        };
        let mut model = Model::default();
        model.begin(&found, now.checked_sub(Duration::from_secs(1)).unwrap());
        for line in LINES.lines().filter(|line| !line.is_empty()) {
            let line = serde_json::from_str(line).unwrap();
            model.take(7, &found.path, line, now);
        }
        model
    }

    /// What is on a screen of this size once these keys were pressed.
    fn drawn(model: &Model, now: Instant, size: (u16, u16), keys: &[KeyCode]) -> String {
        let mut screen = Screen::default();
        for key in keys {
            assert!(screen.key(*key, model, now));
        }
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
        terminal
            .draw(|frame| screen.draw(frame, model, now))
            .unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn chains_and_their_proxies_are_on_the_screen_and_what_they_say_is_escaped() {
        let now = Instant::now();
        let model = model(now);
        let select = [KeyCode::Down, KeyCode::Char('j')];
        insta::assert_snapshot!(drawn(&model, now, (90, 16), &select));
    }

    #[test]
    fn a_screen_without_chains_says_so_and_help_stands_above_all() {
        let now = Instant::now();
        let help = drawn(&Model::default(), now, (64, 15), &[KeyCode::Char('?')]);
        insta::assert_snapshot!(help);
        let none = drawn(&Model::default(), now, (64, 3), &[]);
        assert!(none.contains("No chain runs."), "{none}");
    }

    #[test]
    fn any_size_of_a_terminal_is_drawn_on() {
        let now = Instant::now();
        let model = model(now);
        for width in 1..40 {
            for height in 1..20 {
                let keys = [KeyCode::Down, KeyCode::Char('?')];
                drawn(
                    &model,
                    now,
                    (width, height),
                    &keys[..usize::from(width % 3)],
                );
            }
        }
    }

    #[test]
    fn a_key_ends_it_and_a_chain_that_goes_takes_its_selection_along() {
        let now = Instant::now();
        let mut model = model(now);
        let mut screen = Screen::default();
        screen.key(KeyCode::Down, &model, now);
        model.end(7, "/s".as_ref());
        let mut terminal = Terminal::new(TestBackend::new(80, 20)).unwrap();
        terminal
            .draw(|frame| screen.draw(frame, &model, now))
            .unwrap();
        screen.key(KeyCode::Up, &model, now);
        assert!(!screen.key(KeyCode::Char('q'), &model, now));
    }
}

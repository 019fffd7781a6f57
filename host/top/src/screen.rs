//! The screen: drawing of the model, and keys. Nothing here reads a terminal.

use std::time::Instant;

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row, Table, TableState, Wrap};

use super::model::{Model, Proxy, Sort};
use super::rows::{COLUMNS, TableRow, cells, name, reason, rows};

/// The least height of a screen with details.
const DETAILED: u16 = 14;

/// The height of the details.
const DETAILS: u16 = 7;

/// The least width of the first column, which gets the rest of the width.
const FIRST: u16 = 12;

/// The least widths of the other columns. Those that do not fit are left out, the last ones first.
const WIDTHS: [u16; COLUMNS.len() - 1] = [8, 8, 11, 11, 10, 8, 7, 5];

/// The help, for 40 columns with its frame.
const HELP: &str = "\
↑ ↓ or k j  select a proxy
o           the order of the chain
m           most messages first
w           slowest first, by the work
            of one in a hundred
b           most memory first
r           most restarts first
?           this help
q           quit

WORK and WAIT: half of all messages
took no longer than the first time,
and 99 % no longer than the second.";

/// The user's choices.
#[derive(Debug, Default)]
pub struct Screen {
    sort: Sort,
    selected: Option<Key>,
    has_help: bool,
    table: TableState,
}

/// Identifies a proxy: the process, the connection, and its id.
type Key = (u32, String, String);

impl Screen {
    /// Handles a key. Returns whether to continue.
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
        let rows = rows(model, self.sort, now);
        let keys: Vec<_> = rows.iter().filter_map(key).collect();
        let mut all = keys.iter();
        let at = all.position(|key| Some(key) == self.selected.as_ref());
        let next = match (at, is_down) {
            (None, _) => 0,
            (Some(at), true) => (at + 1).min(keys.len().saturating_sub(1)),
            (Some(at), false) => at.saturating_sub(1),
        };
        self.selected = keys.into_iter().nth(next);
    }

    /// Draws the whole screen.
    pub fn draw(&mut self, frame: &mut Frame, model: &Model, now: Instant) {
        let rows = rows(model, self.sort, now);
        let is_selected = |row: &TableRow| key(row).is_some() && key(row) == self.selected;
        let selected = rows.iter().position(is_selected);
        let area = frame.area();
        let has_details = selected.is_some() && area.height >= DETAILED;
        let details = if has_details { DETAILS } else { 0 };
        let parts = [
            Constraint::Min(1),
            Constraint::Length(details),
            Constraint::Length(1),
        ];
        let [table, pane, foot] = Layout::vertical(parts).areas(area);
        self.draw_table(frame, table, &rows, selected, now);
        if let Some(TableRow::Proxy(_, _, proxy)) = selected.map(|at| &rows[at])
            && has_details
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
        let words = format!("? help   q quit   ↑↓ select   {sorted}");
        frame.render_widget(Line::from(words).dim(), foot);
        if self.has_help {
            draw_help(frame, area);
        }
    }

    fn draw_table(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        rows: &[TableRow],
        selected: Option<usize>,
        now: Instant,
    ) {
        if rows.is_empty() {
            let words = "No chain runs. `acp-chain run`, `serve`, `try` and `dev` show up here.";
            frame.render_widget(Paragraph::new(words).wrap(Wrap::default()), area);
            return;
        }
        let proxies = rows.iter().filter_map(|row| match row {
            TableRow::Title(_) => None,
            TableRow::Proxy(_, chain, proxy) => Some(cells(chain, proxy, now)),
        });
        let widths = fitting(proxies, area.width);
        // A chain's title spans all columns.
        let lines = rows.iter().map(|row| match row {
            TableRow::Title(title) => Row::new([Cell::new(title.as_str().bold())]),
            TableRow::Proxy(_, chain, proxy) => {
                let cells = cells(chain, proxy, now).into_iter().take(widths.len());
                let cells = cells.map(|text| Cell::new(Span::raw(text)));
                let is_well = proxy.failures.is_empty() && proxy.denied == 0;
                let row = Row::new(cells);
                if is_well { row } else { row.red() }
            }
        });
        let head = Row::new(COLUMNS.into_iter().take(widths.len())).dim();
        let drawn = Table::new(lines, &widths)
            .header(head)
            .row_highlight_style(Style::new().reversed());
        self.table.select(selected);
        frame.render_stateful_widget(drawn, area, &mut self.table);
        let top = self.table.offset();
        let visible = rows.iter().enumerate().skip(top);
        for ((_, row), y) in visible.zip(area.y + 1..area.bottom()) {
            if let TableRow::Title(title) = row {
                let line = Rect::new(area.x, y, area.width, 1);
                frame.render_widget(Line::from(title.as_str()).bold(), line);
            }
        }
    }
}

/// The widths of the columns that fit. No value is cut, since a part of it would be another value.
fn fitting(proxies: impl Iterator<Item = [String; COLUMNS.len()]>, width: u16) -> Vec<Constraint> {
    let mut widths = WIDTHS;
    for cells in proxies {
        for (width, cell) in widths.iter_mut().zip(&cells[1..]) {
            let needed = u16::try_from(cell.chars().count()).unwrap_or(u16::MAX);
            *width = needed.max(*width);
        }
    }
    let mut left = width.saturating_sub(FIRST);
    let others = widths.into_iter().map_while(|width| {
        left = left.checked_sub(width.saturating_add(1))?;
        Some(Constraint::Length(width))
    });
    let first = std::iter::once(Constraint::Min(FIRST));
    first.chain(others).collect()
}

/// The key of a proxy's row; `None` for a title.
fn key(row: &TableRow) -> Option<Key> {
    match row {
        TableRow::Title(_) => None,
        TableRow::Proxy(host, chain, proxy) => {
            Some((host.process, chain.connection.clone(), proxy.id.clone()))
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
    let text = Paragraph::new(lines).wrap(Wrap { trim: false });
    frame.render_widget(text.block(block), area);
}

fn draw_help(frame: &mut Frame, area: Rect) {
    let sides = [area.width.min(40), area.height.min(15)];
    let [width, height] = sides.map(Constraint::Length);
    let area = area.centered(width, height);
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
{"connection":"x","proxy":"rules","state":"running","restarts":0,"memory":1048576}
{"connection":"x","proxy":"redact","state":"running","restarts":2,"memory":4194304}
{"connection":"x","from":"client","to":"rules","kind":"notification","method":"m","waited":7}
{"connection":"x","proxy":"rules","decision":"forward","method":"m","worked":1200}
{"time":"2026-11-23T20:00:01Z","connection":"x","proxy":"redact","state":"failed","restarts":2,"why":"it \u001b[31mbroke\u0007"}
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

    /// The content of a screen of this size after these keys.
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
    fn on_a_narrow_screen_columns_are_left_out_and_no_value_is_cut() {
        let now = Instant::now();
        let mut model = model(now);
        let waited = r#"{"connection":"x","from":"client","to":"redact","kind":"notification","method":"m","waited":812}"#;
        let longer = waited.replace("812", "12345000000");
        for line in [&[waited; 98][..], &[&*longer; 3]].concat() {
            let line = serde_json::from_str(line).unwrap();
            model.take(7, "/s".as_ref(), line, now);
        }
        let wide = drawn(&model, now, (90, 5), &[]);
        assert!(
            wide.contains("812µs/12345s") && wide.contains("HELD"),
            "{wide}"
        );
        let narrow = drawn(&model, now, (80, 5), &[]);
        assert!(
            narrow.contains("812µs/12345s ") && narrow.contains("RESTARTS"),
            "{narrow}"
        );
        assert!(!narrow.contains("HELD"), "{narrow}");
        let narrower = drawn(&model, now, (42, 5), &[]);
        assert!(
            narrower.contains("WORK") && !narrower.contains("WAIT"),
            "{narrower}"
        );
    }

    #[test]
    fn a_screen_without_chains_says_so_and_help_stands_above_all() {
        let now = Instant::now();
        let help = drawn(&Model::default(), now, (64, 17), &[KeyCode::Char('?')]);
        insta::assert_snapshot!(help);
        let narrow = drawn(&Model::default(), now, (40, 17), &[KeyCode::Char('?')]);
        assert!(
            narrow.contains("and 99 % no longer than the second."),
            "{narrow}"
        );
        assert!(narrow.contains("? help   q quit   ↑↓ select"), "{narrow}");
        let none = drawn(&Model::default(), now, (64, 3), &[]);
        assert!(none.contains("No chain runs."), "{none}");
    }

    #[test]
    fn of_many_connections_the_busiest_are_shown_first_and_the_others_are_counted() {
        let now = Instant::now();
        let found = Found {
            path: "/s".into(),
            process: 7,
        };
        let mut model = Model::default();
        model.begin(&found, now.checked_sub(Duration::from_secs(1)).unwrap());
        let mut says = |line: &str| {
            let line = serde_json::from_str(line).unwrap();
            model.take(7, &found.path, line, now);
        };
        let heading = r#"{"time":"2026-11-23T20:00:00Z","version":1,"connection":"C","user":"user-C","role":"agent","proxies":["redact"],"agent":"gemini"}"#;
        let comes = r#"{"connection":"C","from":"client","to":"redact","kind":"notification","method":"m"}"#;
        let failed = r#"{"connection":"C","proxy":"redact","state":"failed","why":"it broke"}"#;
        for number in 0..1000 {
            says(&heading.replace('C', &number.to_string()));
        }
        says(&comes.replace('C', "500"));
        says(&comes.replace('C', "600"));
        says(&comes.replace('C', "600"));
        says(&failed.replace('C', "500"));
        says(r#"{"connection":"999","ended":true}"#);
        let shown = drawn(&model, now, (90, 10), &[]);
        insta::assert_snapshot!(shown);
        let table = crate::rows::table(&model, now);
        assert_eq!(table.matches("for user-").count(), 20);
        assert!(table.ends_with("\nand 979 connections more, which are not busier\n"));
        let json = crate::rows::json(&model, now);
        assert_eq!(json["chains"].as_array().unwrap().len(), 999);
    }

    #[test]
    fn any_size_of_a_terminal_can_be_drawn() {
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
    fn q_quits_and_the_selection_ends_with_its_chain() {
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

use super::*;

fn lines(language: Language, text: &str) -> Vec<String> {
    outline(language, text)
}

#[test]
fn rust_has_items_and_what_is_in_them() {
    let text = r#"//! fn not_this() {}
/* struct Nor {
fn that() {} */
pub(crate) mod a;
use std::fmt;
pub struct A<T> {
    field: u32,
}
impl<T> fmt::Display for A<T> {
    pub async fn go(&self) -> u32 {
        let fn_like = call(1);
        if x { return 1; }
    }
}
pub const N: usize = 1;
extern "C" fn c() {}
macro_rules! m {
    () => {};
}
"#;
    assert_eq!(
        lines(Language::Rust, text),
        [
            "4: pub(crate) mod a;",
            "6: pub struct A<T>",
            "9: impl<T> fmt::Display for A<T>",
            "10:     pub async fn go(&self) -> u32",
            "15: pub const N: usize = 1;",
            "16: extern \"C\" fn c() {}",
            "17: macro_rules! m",
        ]
    );
}

#[test]
fn python_has_classes_and_functions() {
    let text = "\"\"\"A module.\n\ndef no(): pass\n\"\"\"\nclass A(B):\n    async def go(self):\n        \"\"\"One line.\"\"\"\n        defer = 1\n\ndef f(): pass\n";
    assert_eq!(
        lines(Language::Python, text),
        [
            "5: class A(B):",
            "6:     async def go(self):",
            "10: def f(): pass"
        ]
    );
}

#[test]
fn scripts_have_functions_classes_methods_and_exports() {
    let text = "import { a } from './a.js';\nexport default async function go(x) {\nexport class A {\n  static make(x) {\n    if (x) {\n    call(() => {\n    for (const a of b) {\n    x.then(function () {\n    f(x) > g(x)) {\n  async #own() {\n}\nexport const one = 1;\nconst f = (x) => x;\nconst local = 2;\ninterface Shape {\ntype Name = string;\n";
    assert_eq!(
        lines(Language::Script, text),
        [
            "2: export default async function go(x)",
            "3: export class A",
            "4:   static make(x)",
            "10:   async #own()",
            "12: export const one = 1;",
            "13: const f = (x) => x;",
            "15: interface Shape",
            "16: type Name = string;",
        ]
    );
}

#[test]
fn go_c_and_java_have_what_stands_where_it_is_usual() {
    let go = "package a\n\nfunc (s *S) Go(x int) error {\n\tvar y = 1\n}\ntype S struct {\n";
    assert_eq!(
        lines(Language::Go, go),
        ["3: func (s *S) Go(x int) error", "6: type S struct"]
    );
    let c = "#include \"a.h\"\n#define MOST 3\nstruct a {\n  int b;\n};\nint declared(void);\nstatic int go(int a)\n{\n  if (a) return f(a);\n}\nint x = f(1);\nbool long_one(int a,\n              int b) {\n";
    assert_eq!(
        lines(Language::C, c),
        [
            "2: #define MOST 3",
            "3: struct a",
            "7: static int go(int a)",
            "12: bool long_one(int a,",
        ]
    );
    let java = "import a.B;\npublic final class A extends B {\n  /** class of {\n   * its own {\n   */\n  public void go(int x) {\n    if (x > 1) {\n    run(x, () -> {\n  enum E { A }\n";
    assert_eq!(
        lines(Language::Java, java),
        [
            "2: public final class A extends B",
            "6:   public void go(int x)",
            "9:   enum E { A }",
        ]
    );
}

#[test]
fn markdown_has_headings_but_not_those_in_code() {
    let text = "# One\n```sh\n# no\n```\n## Two\n#hash\n";
    assert_eq!(lines(Language::Markdown, text), ["1: # One", "5: ## Two"]);
}

#[test]
fn long_lines_are_cut() {
    let text = format!("fn {}() {{\n", "ä".repeat(200));
    let found = lines(Language::Rust, &text);
    assert!(
        found[0].len() < 180 && found[0].ends_with('…'),
        "{}",
        found[0]
    );
}

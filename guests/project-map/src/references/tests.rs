use super::*;

/// The names of each reference.
fn names(file: &str, text: &str) -> Vec<Vec<String>> {
    let language = Language::of(file).expect("a language");
    let references = references(file, language, text).into_iter();
    references.map(|reference| reference.names).collect()
}

#[test]
fn modules_are_beside_a_root_and_below_any_other_file() {
    let text = "mod a;\npub(crate) mod b;\nmod c {\n}\n// mod d;\n";
    assert_eq!(
        names("x/src/lib.rs", text),
        [
            ["x/src/a.rs", "x/src/a/mod.rs"],
            ["x/src/b.rs", "x/src/b/mod.rs"]
        ]
    );
    assert_eq!(names("src/a.rs", "mod b;")[0][0], "src/a/b.rs");
}

#[test]
fn manifests_name_their_members_and_targets() {
    let cargo = "[workspace]\nmembers = [\n  \"a\",\n  \"b/*\",\n]\n[[bin]]\npath = \"x.rs\"\n[dependencies]\nc = { path = \"../c\" }\n";
    assert_eq!(
        names("w/Cargo.toml", cargo)[3..],
        [["w/a/Cargo.toml"], ["w/x.rs"], ["c/Cargo.toml"]]
    );
    let npm = r#"{"main":"./lib/a.js","bin":{"go":"bin/go.js"},"workspaces":["p/one","q/*"]}"#;
    let found = names("package.json", npm);
    assert_eq!(
        (&found[0][0], &found[1][0]),
        (&"lib/a.js".into(), &"bin/go.js".into())
    );
    assert_eq!(found.last().expect("one"), &["p/one/package.json"]);
    let go = "module example.org/tool\nreplace example.org/x => ./x\n";
    assert_eq!(
        names("go.mod", go),
        [["main.go"], ["tool.go"], ["cmd/tool/main.go"], ["x/go.mod"]]
    );
}

#[test]
fn imports_of_scripts_are_followed_where_they_are_relative() {
    let text = "import a from './a.js';\nimport 'react';\nconst b = require(\"../b\");\nexport * from `./c/d.ts`;\n";
    let found = names("src/x.ts", text);
    assert_eq!(found[0], ["src/a.js", "src/a.ts", "src/a.tsx"]);
    assert_eq!(found[1][0], "b.ts");
    assert_eq!(found[2], ["src/c/d.ts"]);
}

#[test]
fn imports_of_python_begin_at_the_root_or_at_their_package() {
    let text = "import os, sys\nfrom .b import c\nfrom ..d import e\nfrom . import f\n";
    let found = names("p/q/a.py", text);
    assert_eq!(found[0][..2], ["os.py", "os/__init__.py"]);
    assert_eq!(found[1][0], "p/q/b.py");
    assert_eq!(found[2][0], "p/d.py");
    assert_eq!(found[3][0], "p/q/f.py");
}

#[test]
fn includes_imports_and_links_are_followed() {
    assert_eq!(
        names("src/a.c", "#include \"b.h\"\n#include <c.h>\n")[0][..2],
        ["src/b.h", "include/b.h"]
    );
    assert_eq!(
        names("app/src/main/java/x/A.java", "import x.y.B;"),
        [["app/src/main/java/x/y/B.java"]]
    );
    let text = "See [a](docs/a.md#x), [b](https://b.md), [c](../c.md) and ![d](d.png).";
    assert_eq!(names("docs/x.md", text), [["docs/docs/a.md"], ["c.md"]]);
}

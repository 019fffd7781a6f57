//! Finds the component that transcripts test.

use std::path::{Path, PathBuf};

use crate::Result;
use crate::extension::folder::components;
use acp_chain_extension::Location;
use acp_chain_package::{MetadataError, Project};
use acp_chain_rpc::untrusted::{MAX_QUOTE, Untrusted, quote};

/// Warns if a component is a draft: results may differ from those of the published component.
pub fn warn_of_draft(component: &Location) {
    if let (Some(path), Ok(package)) = (component.path(), component.package())
        && package.draft
    {
        let shown = Untrusted::new(path.display());
        tell!(
            "acp-chain: {shown} is a draft of `acp-chain dev`; `acp-chain build` makes the one that users get"
        );
    }
}

/// The component built by the project in this folder.
pub fn component() -> Result<PathBuf> {
    match Project::read(Path::new(".")) {
        Ok(project) => {
            let component = acp_chain_author::output(&project);
            return if component.exists() {
                Ok(component)
            } else {
                Err(wrong!(
                    "{} is not there yet: `acp-chain build` makes it",
                    Untrusted::new(component.display())
                ))
            };
        }
        Err(MetadataError::None(_)) => {}
        Err(error) => return Err(quote(&error.to_string(), MAX_QUOTE).into()),
    }
    let files: Vec<_> = components(Path::new(".")).collect();
    let way = "name one with `--component FILE`, or write `[[proxy]]`, `path = \"FILE\"` and `---` at the head of the \
               transcript";
    match &files[..] {
        [component] => Ok(component.clone()),
        [] => Err(wrong!("here is neither a project nor a component; {way}")),
        _ => Err(wrong!("here are several components; {way}")),
    }
}

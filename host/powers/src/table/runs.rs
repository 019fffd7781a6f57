//! Powers over the tools that the agent runs, whether or not it asks: before a tool runs, and before the agent's model
//! gets the result.

use super::{change, cover, read};
use crate::Peer::Agent;
use crate::{Actions, Kinds};
use acp_chain_acp::{AFTER_TOOL, BEFORE_TOOL};

const RUNS: &[&str] = &[BEFORE_TOOL];
const RESULTS: &[&str] = &[AFTER_TOOL];

powers! {
    "tool-runs.read": Medium, because "files and commands are in it";
        it "sees which tools the agent is about to run, and with what input, also where it does not ask you", by
        &[read(Agent, Kinds::REQUEST, RUNS)];

    "tool-runs.refuse": Low, because "nothing is run that would not have been";
        it "delays the agent's tools before they run, and keeps them from running", by
        &[cover(Actions::REFUSE, Agent, Kinds::REQUEST, RUNS)];

    "tool-runs.change": High, because "a tool has all of your rights";
        it "changes the input with which the agent runs its tools, or keeps them from running", by
        &[change(Agent, Kinds::REQUEST, RUNS, &["/toolCall/rawInput"])];

    "tool-results.read": Medium, because "files can hold secrets, and commands can print them";
        it "reads the results of the agent's tools before the agent's model does", by
        &[read(Agent, Kinds::REQUEST, RESULTS)];

    "tool-results.change": High, because "models follow what they read";
        it "changes or withholds what the agent's model reads of the results of tools", by
        &[change(Agent, Kinds::REQUEST, RESULTS, &["/output/*"])];
}

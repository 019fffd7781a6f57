#!/usr/bin/env node
// Runs the program for this platform, which npm has installed beside this package.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@acp-chain/${process.platform}-${process.arch}`;

function program() {
  try {
    return require.resolve(`${name}/acp-chain`);
  } catch {
    fail(
      `${name} is not installed: either there is no package for this platform, and the program has to be built ` +
        "from its source, or npm was set to omit optional packages, and `npm install --include=optional` installs it",
    );
  }
}

function fail(why) {
  process.stderr.write(`acp-chain: ${why}\n`);
  process.exit(1);
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`the program does not start: ${error.message}`));
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));

// A terminal also sends SIGINT to the program, which would count another one as the second.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}

#!/usr/bin/env node
// A browser that does what its standard input says, a JSON object a line, and answers each with one:
// { open, dark } a page, { run } an expression in it, { wait } until one is true, { click } what a selector finds,
// { key } pressed, { type } text, { shot } into a file, { save } the download that a click on a selector begins, into
// { into }. An answer has `ok` or `error`.
// `{ told: true }` gives what the page told: errors, violations of its policy, requests to anywhere but its own origin.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const [executablePath] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "browser-"));
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const context = await chromium.launchPersistentContext(home, {
  executablePath,
  headless: true,
  args: [...args, "--disable-component-update", "--disable-sync"],
  viewport: { width: 1360, height: 820 },
  permissions: ["clipboard-read", "clipboard-write"],
  acceptDownloads: true,
});
let told = [];
let page;

async function open(url, dark) {
  await page?.close();
  told = [];
  page = await context.newPage();
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
  const origin = new URL(url).origin;
  page.on("pageerror", (error) => told.push(`error: ${error.stack}`));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && told.push(`console: ${message.text()}`));
  page.on("dialog", (dialog) => (told.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => {
    const to = request.url();
    if (!to.startsWith("data:") && !to.startsWith("blob:") && new URL(to).origin !== origin) told.push(`request: ${to}`);
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => console.error(`violation: ${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(url);
}

// Not by waitForFunction, which would evaluate text within the page, against its policy.
async function until(expression) {
  const end = Date.now() + 60_000;
  while (!(await page.evaluate(expression))) {
    if (Date.now() > end) throw new Error(`this is never true; the page says: ${await page.evaluate("document.body.innerText")}`);
    await new Promise((done) => setTimeout(done, 20));
  }
  return true;
}

// A page draws what was done to it in its next frame, which is there when the one after that begins.
async function drawn() {
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))");
  return null;
}

async function answer(asked) {
  if (asked.open) return open(asked.open, asked.dark);
  if (asked.run) return page.evaluate(asked.run);
  if (asked.wait) return until(asked.wait);
  if (asked.save) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(asked.save)]);
    return download.saveAs(asked.into);
  }
  if (asked.click) return page.click(asked.click).then(drawn);
  if (asked.key) return page.keyboard.press(asked.key).then(drawn);
  if (asked.type) return page.keyboard.type(asked.type).then(drawn);
  if (asked.shot) return page.screenshot({ path: asked.shot }).then(() => true);
  if (asked.told) return told;
  throw new Error("nothing that is known is asked for");
}

for await (const line of createInterface({ input: process.stdin })) {
  let said;
  try {
    said = { ok: (await answer(JSON.parse(line))) ?? null };
  } catch (error) {
    said = { error: String(error.message ?? error) };
  }
  console.log(JSON.stringify(said));
}
await context.close();
rmSync(home, { recursive: true, force: true });

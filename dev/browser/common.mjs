// What the browser tests share: the browser, and pages that collect the errors of their console.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";
import axe from "axe-core";
import { chromium } from "playwright-core";

export const root = new URL("../..", import.meta.url).pathname;
export const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
export const shots = new URL("shots/", import.meta.url).pathname;

const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export async function launch() {
  mkdirSync(shots, { recursive: true });
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS });
}

let pages;

/// Writes the reports of `dev/pages` and returns their directory, which is removed at the end.
export function written() {
  if (pages === undefined) {
    pages = mkdtempSync(join(tmpdir(), "whippet-written-"));
    process.on("exit", () => rmSync(pages, { recursive: true }));
    execFileSync(join(target, "debug/whippet-pages"), ["write", pages], { cwd: root });
  }
  return pages;
}

/// Checks the page against the rules of axe: roles, names, contrast, and what the keyboard can reach.
export async function assertAccessible(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 120)]), []);
}

/// Opens a page and returns it with the list of errors in its console.
export async function openPage(browser, address, ready, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, ...options });
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(address);
  await page.waitForSelector(ready);
  return { page, errors };
}

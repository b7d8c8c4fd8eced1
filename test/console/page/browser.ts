import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

/** Debian's, without the parts that show windows: a page costs half the processor time. */
const path = "/usr/bin/chromium-headless-shell";
export const isChromiumThere = existsSync(path);

/** Why tests of the page are left out, or an error where they must not be. */
export function sayIfMissing(): void {
  if (isChromiumThere) return;
  const missing = "tests of the console need Debian's Chromium (apt-get install chromium-headless-shell)";
  if (process.env.CI) throw new Error(missing);
  console.warn(`left out: ${missing}`);
}

/** @param args options of Chromium */
export function openBrowser(args: readonly string[] = []): Promise<Browser> {
  // A container's user is root, whom the sandbox refuses.
  const all = ["--no-sandbox", "--disable-dev-shm-usage", ...args];
  return chromium.launch({ executablePath: path, args: all });
}

/** What must not happen on any page: an error of its script, and what its policy refuses. */
export function watchForErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(`${error}`));
  page.on("console", (message) => {
    // The browser reports each connection that was refused; the page says so itself.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      errors.push(message.text());
  });
  return errors;
}

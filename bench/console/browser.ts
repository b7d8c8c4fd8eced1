import { existsSync } from "node:fs";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import type { SectionRun } from "../section-run.ts";

/** Debian's. */
const path = "/usr/bin/chromium-headless-shell";
const viewport = { width: 1_400, height: 900 };

/** Chromium without a window. A machine without a graphics card draws by software. */
export async function openBrowser(run: SectionRun): Promise<Browser> {
  if (!existsSync(path)) throw new Error(`the console needs Debian's chromium-headless-shell (${path})`);
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
  const browser = await chromium.launch({ executablePath: path, args });
  run.onEnd(() => browser.close());
  return browser;
}

/** A page in a browser that has cached nothing. */
export async function openPage(browser: Browser, locale = "en-GB"): Promise<Page> {
  const context = await browser.newContext({ viewport, locale });
  return context.newPage();
}

/** A page that shows live values at an address. */
export async function openLive(browser: Browser, address: string): Promise<Page> {
  const page = await openPage(browser);
  await page.goto(address);
  await page.getByText("● live").waitFor({ timeout: 60_000 });
  return page;
}

/** What a page holds after a collection. */
export interface PageMemory {
  readonly heapMb: number;
  /** Nodes of the document, and those that the script still holds. */
  readonly nodes: number;
  readonly listeners: number;
}

export async function pageMemory(session: CDPSession): Promise<PageMemory> {
  // What one collection frees may free more.
  for (let round = 0; round < 3; round += 1) await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners: listeners } = await session.send("Memory.getDOMCounters");
  return { heapMb: usedSize / 1024 / 1024, nodes, listeners };
}

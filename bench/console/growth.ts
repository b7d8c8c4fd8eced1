import type { Browser, CDPSession, Page } from "playwright-core";
import { type Collected, collected } from "../probe.ts";
import { pause, type SectionRun } from "../section-run.ts";
import { openLive, type PageMemory, pageMemory } from "./browser.ts";
import { type ConsoleFleet, openReaders } from "./open.ts";
import { CHANGES_A_SECOND, CLIENTS } from "./stream-cost.ts";

/** Rings and caches fill, and the programs are compiled. */
const WARM_UP_MS = 60_000;
/** What was sent last has arrived then, and nothing changes but places. */
const REST_MS = 5_000;
const VIEW_MS = 15_000;
const views = ["Floor", "Commands", "Alarms"] as const;

interface Look {
  readonly page: PageMemory;
  readonly gateway: Collected;
}

export interface GrowthFigures {
  readonly minutes: number;
  readonly before: Look;
  readonly after: Look;
}

/** What page and gateway hold before and after some minutes of load, each after a collection. */
export async function measureGrowth(
  run: SectionRun,
  browser: Browser,
  fleet: ConsoleFleet,
  minutes: number,
): Promise<GrowthFigures> {
  const page = await openLive(browser, fleet.gateway.webUrl);
  const session = await page.context().newCDPSession(page);
  const readers = openReaders(run, fleet.gateway);
  await readers.read(CLIENTS - 1);
  const load = async (ms: number) => {
    await fleet.rate(CHANGES_A_SECOND);
    await useFor(page, ms);
    await fleet.rate(0);
    await pause(REST_MS);
  };
  await load(WARM_UP_MS);
  const before = await look(session, fleet);
  await load(minutes * 60_000);
  const after = await look(session, fleet);
  await readers.read(0);
  await page.context().close();
  return { minutes, before, after };
}

/** Goes from view to view, and ends at the floor. */
async function useFor(page: Page, ms: number): Promise<void> {
  const endMs = performance.now() + ms;
  for (let turn = 1; performance.now() < endMs; turn += 1) {
    const view = views[turn % views.length] ?? "Floor";
    await page.getByRole("link", { name: view }).first().click();
    await pause(Math.min(VIEW_MS, Math.max(0, endMs - performance.now())));
    if (view !== "Floor") continue;
    await page.locator(".robots .row a").first().click();
    await pause(Math.min(VIEW_MS, Math.max(0, endMs - performance.now())));
  }
  await page.getByRole("link", { name: "Floor", exact: true }).click();
}

async function look(session: CDPSession, { gateway }: ConsoleFleet): Promise<Look> {
  return { page: await pageMemory(session), gateway: await collected(gateway) };
}

import type { FastifyInstance } from "fastify";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterEach, beforeAll, describe, expect } from "vitest";
import type { Robot } from "../../../src/northbound/web/api/robot.ts";
import { standingRobot } from "../standing-robot.ts";
import { isChromiumThere, openBrowser, sayIfMissing, watchForErrors } from "./browser.ts";
import { type FakeGateway, openFakeGateway } from "./fake-gateway.ts";

/** One browser for the tests of a file. What a test opens is closed after it. */
export interface PageHarness {
  readonly browser: Browser;
  /** Opens a page in a context of its own. An error of the page fails the test. */
  openPage(url: string, options?: PageOptions): Promise<OpenedPage>;
  /** Opens one more page in a context, as a tab. */
  openTab(context: BrowserContext, url: string, options?: Pick<PageOptions, "before">): Promise<Page>;
  /** Opens a gateway, and a page of it that is live. */
  open(path?: string, options?: ScreenOptions): Promise<Opened>;
  /** Opens the gateway alone. */
  openGateway(options?: GatewayOptions): Promise<FakeGateway>;
  closeAfter(close: () => Promise<unknown>): void;
}

export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
}

export interface Opened extends OpenedPage {
  readonly gateway: FakeGateway;
}

export interface PageOptions extends BrowserContextOptions {
  /** What must be there before the page is loaded. */
  readonly before?: ((page: Page) => unknown) | undefined;
}

export interface GatewayOptions {
  /** cart-1, which stands, unless told. */
  readonly robots?: readonly Robot[] | undefined;
  /** Puts other answers into the gateway, before it ticks. */
  readonly prepare?: ((gateway: FakeGateway) => void) | undefined;
  /** Further routes of its API. */
  readonly addRoutes?: ((server: FastifyInstance) => void) | undefined;
}

export interface ScreenOptions extends GatewayOptions, PageOptions {
  /** False: the page asks for a log-in first. */
  readonly isLive?: boolean;
}

const viewport = { width: 1_000, height: 700 };

/** A `describe` of tests in a browser, left out where there is none. @param args options of Chromium */
export function describePages(
  name: string,
  tests: (harness: PageHarness) => void,
  args: readonly string[] = [],
): void {
  sayIfMissing();
  describe.runIf(isChromiumThere)(name, () => tests(createPageHarness(args)));
}

/** The page says so while its values are known to be true now. */
export async function isLive(page: Page): Promise<void> {
  await page.getByText(/^● (live|aktuell)$/).waitFor();
}

/** Counts the nodes that the page holds after a collection, those that are shown nowhere too. */
export async function nodeCounter(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  return async () => {
    // What one collection frees may free more.
    for (let round = 0; round < 3; round += 1) await session.send("HeapProfiler.collectGarbage");
    return (await session.send("Memory.getDOMCounters")).nodes;
  };
}

/** Logs a user in by the page's form, and waits until the page is live. */
export async function logIn(page: Page, user: string, password: string): Promise<void> {
  await page.getByLabel("User").fill(user);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await isLive(page);
}

function createPageHarness(args: readonly string[]): PageHarness {
  let browser: Browser;
  const closers: Array<() => Promise<unknown>> = [];
  beforeAll(async () => {
    browser = await openBrowser(args);
    return () => browser.close();
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  const harness: PageHarness = {
    get browser() {
      return browser;
    },
    async openPage(url, { before, ...options } = {}) {
      const context = await browser.newContext({ viewport, ...options });
      closers.push(() => context.close());
      return { page: await harness.openTab(context, url, { before }), context };
    },
    async openTab(context, url, { before } = {}) {
      const page = await context.newPage();
      const errors = watchForErrors(page);
      closers.push(async () => expect(errors).toEqual([]));
      await before?.(page);
      await page.goto(url);
      return page;
    },
    async openGateway({ robots = [standingRobot("cart-1")], prepare, addRoutes } = {}) {
      const gateway = await openFakeGateway(robots, addRoutes);
      closers.push(async () => gateway[Symbol.asyncDispose]());
      prepare?.(gateway);
      gateway.tick(true);
      return gateway;
    },
    async open(path = "/", { robots, prepare, addRoutes, isLive: waits = true, ...options } = {}) {
      const gateway = await harness.openGateway({ robots, prepare, addRoutes });
      const opened = await harness.openPage(`${gateway.url}${path}`, options);
      if (waits) await isLive(opened.page);
      return { ...opened, gateway };
    },
    closeAfter: (close) => void closers.push(close),
  };
  return harness;
}

/** Watches from now on for how long after the last tick the values are grey, in the page's own time. */
export function watchGrey(page: Page): Promise<number> {
  const isGrey = "Number(getComputedStyle(document.querySelector('.veil')).opacity) > 0.8";
  return timeUntil(page, isGrey, "document.documentElement.dataset.tick !== 'none'");
}

/** Watches from now on for how long it takes until the page says it, in the page's own time. */
export function timeUntilSaid(page: Page, text: string): Promise<number> {
  return timeUntil(page, `document.body.textContent.includes(${JSON.stringify(text)})`, "false");
}

/**
 * Resolves with how many milliseconds it takes until `holds`. A frame counts as 50 ms at most: the rest is
 * time in which a busy machine let the browser draw nothing.
 *
 * @param holds an expression
 * @param isAnew whether the time begins anew, when an attribute of the document was set
 */
function timeUntil(page: Page, holds: string, isAnew: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    let [passedMs, lookedAt] = [0, performance.now()];
    new MutationObserver(() => {
      if (${isAnew}) [passedMs, lookedAt] = [0, performance.now()];
    }).observe(document.documentElement, { attributes: true });
    const look = () => {
      const now = performance.now();
      passedMs += Math.min(now - lookedAt, 50);
      lookedAt = now;
      if (${holds}) resolve(passedMs);
      else requestAnimationFrame(look);
    };
    look();
  })`);
}

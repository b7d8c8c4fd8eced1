import type { Browser } from "playwright-core";
import { quantile } from "../quantile.ts";
import { openPage } from "./browser.ts";

/** A browser opens the page at any moment between two ticks. */
const OPENINGS = 11;

export interface FirstView {
  /** Script, style and font, as they come over the network. */
  readonly kilobytes: number;
  /** From the address to all robots in the list, without the veil: the median and the slowest. */
  readonly usableMs: number;
  readonly slowestMs: number;
}

export async function measureFirstView(
  browser: Browser,
  address: string,
  robots: number,
  locale = "en-GB",
): Promise<FirstView> {
  const usable: number[] = [];
  let kilobytes = 0;
  for (let opening = 0; opening <= OPENINGS; opening += 1) {
    const page = await openPage(browser, locale);
    await page.goto(address, { waitUntil: "commit" });
    const usableMs = await page.evaluate<number>(usableAfterMs(robots));
    // The first one finds neither the browser nor the gateway at work.
    if (opening > 0) usable.push(usableMs);
    kilobytes = (await page.evaluate<number>(encodedBytes)) / 1_000;
    await page.context().close();
  }
  return { kilobytes, usableMs: quantile(usable, 0.5), slowestMs: Math.max(...usable) };
}

/** By the page's own clock, which begins with the navigation. */
const usableAfterMs = (robots: number) => `new Promise((resolve) => {
  const look = () => {
    const rows = document.querySelectorAll(".robots .row").length;
    const veil = document.querySelector(".veil");
    if (rows === ${robots} && Number(getComputedStyle(veil).opacity) < 0.05) {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now());
      port2.postMessage(null);
      return;
    }
    requestAnimationFrame(look);
  };
  look();
})`;

const encodedBytes = `performance.getEntriesByType("resource")
  .filter(({ name }) => /\\.(js|css|woff2)$/.test(new URL(name).pathname))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`;

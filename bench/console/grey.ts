import type { Browser, Page } from "playwright-core";
import { openLive } from "./browser.ts";
import type { ConsoleFleet } from "./open.ts";

export interface GreyFigures {
  readonly hungMs: readonly number[];
  readonly killedMs: readonly number[];
}

/** How long after the gateway hangs, or is killed, the browser has greyed all values. */
export async function measureGrey(
  browser: Browser,
  fleet: ConsoleFleet,
  rounds: number,
): Promise<GreyFigures> {
  const [hungMs, killedMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const page = await openLive(browser, fleet.gateway.webUrl);
    hungMs.push(await greyAfter(page, () => fleet.gateway.child.signal("SIGSTOP")));
    fleet.gateway.child.signal("SIGCONT");
    await page.getByText("● live").waitFor({ timeout: 30_000 });
    killedMs.push(await greyAfter(page, () => void fleet.gateway.child.end("SIGKILL")));
    await page.context().close();
    await fleet.gateway.child.end("SIGKILL");
    await fleet.restart();
  }
  return { hungMs, killedMs };
}

async function greyAfter(page: Page, harm: () => void): Promise<number> {
  const grey = page.evaluate<number>(greyAtMs);
  const fromMs = Date.now();
  harm();
  return (await grey) - fromMs;
}

/** When the veil is as thick as it gets, in Unix milliseconds. */
const greyAtMs = `new Promise((resolve) => {
  const veil = document.querySelector(".veil");
  const look = () => {
    if (Number(getComputedStyle(veil).opacity) > 0.8) resolve(performance.timeOrigin + performance.now());
    else requestAnimationFrame(look);
  };
  look();
})`;

import type { Page } from "playwright-core";
import { quantile } from "../quantile.ts";
import { pause } from "../section-run.ts";
import type { ConsoleFleet } from "./open.ts";
import type { SentMessage } from "./protocol.ts";

/** Stops of a robot's mission: each message names the next. */
const STOPS = 4;

/** A text of the page that names the stop, as it was painted. */
interface Painted {
  readonly stop: number;
  /** Unix milliseconds. */
  readonly atMs: number;
}

export interface PaintFigures {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly count: number;
  readonly faults: readonly string[];
}

/**
 * Times changes of the first robot from the service to the browser's next frame. The service's process and
 * the browser have one clock.
 *
 * @param selector of the element whose text names the stop
 */
export async function measurePainted(
  fleet: ConsoleFleet,
  page: Page,
  selector: string,
  seconds: number,
): Promise<PaintFigures> {
  await page.evaluate(watchText(selector));
  await fleet.sent();
  await pause(seconds * 1_000);
  const painted = await page.evaluate<readonly Painted[]>("window.painted");
  const sent = await fleet.sent();
  const delays = painted.flatMap((each) => delayOf(each, sent) ?? []);
  return {
    p50Ms: quantile(delays, 0.5),
    p95Ms: quantile(delays, 0.95),
    count: delays.length,
    faults: delays.length < seconds ? [`only ${delays.length} changes were painted in ${seconds} s`] : [],
  };
}

/** Since the newest message that named this stop. */
function delayOf({ stop, atMs }: Painted, sent: readonly SentMessage[]): number | null {
  const of = sent.findLast((each) => each.sequence % STOPS === stop && each.atMs <= atMs);
  return of === undefined ? null : atMs - of.atMs;
}

/** Notes each new stop after the frame that shows it. */
const watchText = (selector: string) => `{
  window.painted = [];
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => {
    const atMs = performance.timeOrigin + performance.now();
    for (const stop of waiting.splice(0)) window.painted.push({ stop, atMs });
  };
  const find = () => {
    const text = document.querySelector(${JSON.stringify(selector)})?.textContent ?? "";
    return Number(/\\[Stop (\\d)/.exec(text)?.[1] ?? /→ Stop (\\d)/.exec(text)?.[1]) - 1;
  };
  let last = find();
  new MutationObserver(() => {
    const stop = find();
    if (stop === last || Number.isNaN(stop)) return;
    last = stop;
    requestAnimationFrame(() => {
      waiting.push(stop);
      port2.postMessage(null);
    });
  }).observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });
}`;

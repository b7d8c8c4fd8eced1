// The console: what it costs the gateway, how soon a change is painted, and what stays after a long time. The
// page is driven in Debian's Chromium.
import { atMost, type Findings, number, row } from "../report.ts";
import { type SectionRun, startBroker } from "../section-run.ts";
import { openBrowser, openLive } from "./browser.ts";
import { type FirstView, measureFirstView } from "./first-view.ts";
import { type FrameFigures, measureFrames } from "./frames.ts";
import { type GreyFigures, measureGrey } from "./grey.ts";
import { type GrowthFigures, measureGrowth } from "./growth.ts";
import { type ConsoleFleet, openFleet } from "./open.ts";
import { measurePainted, type PaintFigures } from "./painted.ts";
import { CHANGES_A_SECOND, CLIENTS, measureStream, type StreamCost } from "./stream-cost.ts";

export interface ConsoleOptions {
  readonly robots: number;
  readonly quick: boolean;
  /** Of load before page and gateway are looked at again; null: as long as is usual. */
  readonly minutes: number | null;
}

const FEW_ROBOTS = 50;
const MOST_KILOBYTES = 110;
const MOST_USABLE_MS = 1_000;
const MOST_STREAM_PERCENT = 6;
const MOST_PAINTED_MS = 400;
const MOST_FRAME_MS = 12;
const MOST_GREY_MS = 3_500;
const MOST_PAGE_MB = 2;
const MOST_GATEWAY_MB = 15;
const FULL_MINUTES = 20;

interface Seen {
  readonly robots: number;
  readonly first: FirstView;
  readonly german: FirstView;
  readonly grey: GreyFigures;
  readonly stream: StreamCost;
  readonly floor: PaintFigures;
  readonly robot: PaintFigures;
  readonly frames: FrameFigures;
  readonly growth: GrowthFigures;
}

export async function measureConsole(
  run: SectionRun,
  { robots, quick, minutes }: ConsoleOptions,
): Promise<Findings> {
  const mqttPort = await startBroker(run);
  const browser = await openBrowser(run);
  const few = await openFleet(run, "few", mqttPort, FEW_ROBOTS);
  const first = await measureFirstView(browser, few.gateway.webUrl, FEW_ROBOTS);
  const german = await measureFirstView(browser, few.gateway.webUrl, FEW_ROBOTS, "de-DE");
  const grey = await measureGrey(browser, few, quick ? 1 : 3);
  await few.close();
  const fleet = await openFleet(run, "many", mqttPort, robots);
  const stream = await measureStream(
    run,
    fleet,
    quick ? { rounds: 1, seconds: 8 } : { rounds: 2, seconds: 15 },
  );
  const painted = await paintedFigures(browser, fleet, quick ? 10 : 40);
  const growth = await measureGrowth(run, browser, fleet, minutes ?? (quick ? 1 : FULL_MINUTES));
  return findings({ robots, first, german, grey, stream, ...painted, growth });
}

async function paintedFigures(
  browser: Awaited<ReturnType<typeof openBrowser>>,
  fleet: ConsoleFleet,
  seconds: number,
): Promise<Pick<Seen, "floor" | "robot" | "frames">> {
  const { webUrl } = fleet.gateway;
  const page = await openLive(browser, webUrl);
  await fleet.rate(CHANGES_A_SECOND);
  const floor = await measurePainted(fleet, page, ".robots .row", seconds);
  const frames = await measureFrames(browser, page, seconds / 2);
  await page.locator(".robots .row a").first().click();
  await page.locator(".current").waitFor();
  const robot = await measurePainted(fleet, page, ".current", seconds);
  await fleet.rate(0);
  await page.context().close();
  return { floor, robot, frames };
}

function findings(seen: Seen): Findings {
  const { first, german, grey, stream, floor, robot, frames, growth } = seen;
  const hungMs = Math.max(...grey.hungMs);
  const killedMs = Math.max(...grey.killedMs);
  const { before, after } = growth;
  const pageMb = after.page.heapMb - before.page.heapMb;
  const nodes = after.page.nodes - before.page.nodes;
  const gatewayMb = after.gateway.rssAnonMb - before.gateway.rssAnonMb;
  return {
    figures: seen,
    faults: [...stream.faults, ...floor.faults, ...robot.faults, ...frames.faults],
    reach: [
      atMost("first view, 50 robots: script, style and font, gzip kB", first.kilobytes, MOST_KILOBYTES),
      atMost("the same in German", german.kilobytes, MOST_KILOBYTES),
      atMost("first view, 50 robots: usable, ms: slowest", first.slowestMs, MOST_USABLE_MS),
      atMost(`five stream clients more than none, % of a core`, stream.morePercent, MOST_STREAM_PERCENT),
      atMost("change to painted, ms: p95, floor", floor.p95Ms, MOST_PAINTED_MS),
      atMost("change to painted, ms: p95, a robot's page", robot.p95Ms, MOST_PAINTED_MS),
      atMost("main thread of a frame, ms: p95", frames.p95Ms, MOST_FRAME_MS),
      atMost("gateway hung to grey, ms: slowest", hungMs, MOST_GREY_MS),
      atMost("gateway killed to grey, ms: slowest", killedMs, MOST_GREY_MS),
      atMost(`page heap after ${growth.minutes} minutes, MB more`, pageMb, MOST_PAGE_MB),
      atMost("DOM nodes more", nodes, 0),
      atMost("gateway RssAnon, MB more", gatewayMb, MOST_GATEWAY_MB),
    ],
    table: tableOf(seen, { pageMb, nodes, gatewayMb }),
  };
}

function tableOf(
  { robots, first, german, grey, stream, floor, robot, frames, growth }: Seen,
  more: { readonly pageMb: number; readonly nodes: number; readonly gatewayMb: number },
): string {
  const { before, after, minutes } = growth;
  const { worker } = frames;
  const short = minutes < FULL_MINUTES ? `, which is SHORTER than ${FULL_MINUTES}` : "";
  const percents = (values: readonly number[]) => values.map((value) => number(value)).join(" ");
  return [
    "Chromium draws by software: a machine with a graphics card has more time.",
    row("first view, 50 robots: script, style and font, gzip kB", first.kilobytes),
    row("the same in German", german.kilobytes),
    row("first view, 50 robots: usable, ms: median, slowest", first.usableMs, first.slowestMs),
    row("gateway hung to grey, ms", percents(grey.hungMs)),
    row("gateway killed to grey, ms", percents(grey.killedMs)),
    `${robots} robots, ${CHANGES_A_SECOND} changes a second:`,
    row("  gateway without stream clients, % of a core", percents(stream.none)),
    row(`  gateway with ${CLIENTS} stream clients, % of a core`, percents(stream.clients)),
    row("  a stream client is sent, kB/s", stream.kilobytesASecond),
    row("  change to painted on the floor, ms: p50, p95, changes", floor.p50Ms, floor.p95Ms, floor.count),
    row("  the same on a robot's page", robot.p50Ms, robot.p95Ms, robot.count),
    row("  main thread of a frame, ms: p50, p95, frames", frames.p50Ms, frames.p95Ms, frames.frames),
    row("  the same as processor time, ms: p50, p95", frames.cpuP50Ms, frames.cpuP95Ms),
    row("  all of them, processor time in % of a core", frames.cpuPercent),
    row("  worker of a scene, ms: p50, p95, scenes", worker.p50Ms, worker.p95Ms, worker.scenes),
    row("  the same as processor time, ms: p50, p95", worker.cpuP50Ms, worker.cpuP95Ms),
    row("  all of them, processor time in % of a core", worker.cpuPercent),
    row("  other tasks of the main thread, ms: p95", frames.messageP95Ms),
    `${minutes} minutes of that${short}, each after a collection:`,
    row("", "before", "after", "more"),
    row("  page heap, MB", before.page.heapMb, after.page.heapMb, more.pageMb),
    row("  DOM nodes", before.page.nodes, after.page.nodes, more.nodes),
    row("  listeners of the page", before.page.listeners, after.page.listeners),
    row("  gateway heap, MB", before.gateway.heapMb, after.gateway.heapMb),
    row("  gateway RssAnon, MB", before.gateway.rssAnonMb, after.gateway.rssAnonMb, more.gatewayMb),
  ].join("\n");
}

// The simulated service under many subscribers: what it costs, how many streams it holds, and whom a
// subscriber that does not read slows down.
import { join } from "node:path";
import type { Child } from "../child.ts";
import { atLeast, atMost, type Findings, row } from "../report.ts";
import { benchFolder, freePorts, pause, type SectionRun } from "../section-run.ts";
import { startService } from "../service.ts";
import type { Measured, SubscriberReply, SubscriberRequest } from "./protocol.ts";

export interface ServiceOptions {
  readonly robots: number;
  readonly quick: boolean;
}

const LOCATION = "plant-1";
const SUBSCRIBERS = 10;
const CONVEYOR_STREAMS = 5_000;
/** HTTP/2's ENHANCE_YOUR_CALM, which gRPC reads as RESOURCE_EXHAUSTED. */
const ENHANCE_YOUR_CALM = 11;
/** A robot of a patrol sends two missions messages a second; batteries come now and then. */
const MESSAGES_A_ROBOT = 2;
/** What the others' latency may grow by while one does not read: a turn of the loop. */
const DISTURBANCE_MS = 5;
const WARM_UP_MS = 5_000;
const REPLY_TIMEOUT_MS = 120_000;
const LOOK_MS = 50;

/** What was seen for a while, with what the service used. */
interface Window extends Measured {
  /** Of one core. */
  readonly cores: number;
  /** The most that was seen. */
  readonly rssAnonMb: number;
}

interface Seen {
  readonly robots: number;
  /** Before and after one did not read. */
  readonly alone: readonly [Window, Window];
  readonly slow: { readonly afterSeconds: number; readonly http2Code: number; readonly window: Window };
  readonly conveyors: {
    readonly open: number;
    readonly seconds: number;
    readonly rssBeforeMb: number;
    readonly window: Window;
  };
}

export async function measureService(run: SectionRun, { robots, quick }: ServiceOptions): Promise<Findings> {
  const seconds = quick ? 5 : 30;
  const { child, address } = await startService(run, {
    folder: join(run.folder, "service"),
    port: await freePorts(),
    args: ["--robots", String(robots), "--lively"],
  });
  const subscribers = run.start("subscribers", join(benchFolder, "service", "subscribers.js"));
  const ask = asker(subscribers);
  await ask(
    { kind: "subscribe", address, location: LOCATION, subscribers: SUBSCRIBERS, robots },
    "subscribed",
  );
  await pause(WARM_UP_MS);
  const look = async () => (await ask({ kind: "measure", seconds }, "measured")).measured;
  const before = await watch(child, look, (measured) => measured);
  const slow = await watch(
    child,
    () => ask({ kind: "stop-reading", withinMs: REPLY_TIMEOUT_MS / 2 }, "cut-off"),
    ({ others }) => others,
  );
  await pause(WARM_UP_MS);
  const after = await watch(child, look, (measured) => measured);
  const rssBeforeMb = child.rssAnonMb();
  const opened = await ask(
    { kind: "conveyors", streams: CONVEYOR_STREAMS, carts: carts(robots) },
    "conveyors-open",
  );
  await pause(WARM_UP_MS);
  const full = await watch(child, look, (measured) => measured);
  return findings({
    robots,
    alone: [before.window, after.window],
    slow: { ...slow.result, window: slow.window },
    conveyors: { ...opened, rssBeforeMb, window: full.window },
  });
}

function asker(subscribers: Child) {
  return async <K extends SubscriberReply["kind"]>(
    request: SubscriberRequest,
    kind: K,
  ): Promise<Extract<SubscriberReply, { kind: K }>> => {
    subscribers.send(request);
    const reply = await subscribers.next<SubscriberReply>(REPLY_TIMEOUT_MS);
    if (reply.kind === "failed") throw new Error(`subscribers: ${reply.message}`);
    if (reply.kind !== kind) throw new Error(`subscribers answered ${reply.kind} instead of ${kind}`);
    return reply as Extract<SubscriberReply, { kind: K }>;
  };
}

/** What the service uses while `work` is done. */
async function watch<T>(
  service: Child,
  work: () => Promise<T>,
  measuredOf: (result: T) => Measured,
): Promise<{ readonly result: T; readonly window: Window }> {
  const startedMs = performance.now();
  const before = service.cpuMicros();
  let rssAnonMb = service.rssAnonMb();
  const timer = setInterval(() => {
    rssAnonMb = Math.max(rssAnonMb, service.rssAnonMb());
  }, LOOK_MS);
  try {
    const result = await work();
    const cores = (service.cpuMicros() - before) / 1e3 / (performance.now() - startedMs);
    return { result, window: { ...measuredOf(result), cores, rssAnonMb } };
  } finally {
    clearInterval(timer);
  }
}

/** The carts of a generated fleet: of every ten robots the first, the fourth and the seventh. */
function carts(robots: number): string[] {
  return Array.from({ length: robots }, (_, at) => at)
    .filter((at) => [0, 3, 6].includes(at % 10))
    .map((at) => `cart-${String(at + 1).padStart(4, "0")}`);
}

function findings(seen: Seen): Findings {
  const { robots, alone, slow, conveyors } = seen;
  const [before, after] = alone;
  const kilobytes = ((conveyors.window.rssAnonMb - conveyors.rssBeforeMb) * 1024) / conveyors.open;
  const faults = [...alone, slow.window, conveyors.window]
    .filter(({ gaps }) => gaps > 0)
    .map(({ gaps }) => `a subscriber missed ${gaps} messages`);
  return {
    figures: { ...seen, subscribers: SUBSCRIBERS, kilobytesAStream: kilobytes },
    faults,
    reach: [
      atMost("service with 10 subscribers, cores", before.cores, 1),
      atLeast(
        "messages a second to the subscriber with the fewest",
        before.fewest,
        MESSAGES_A_ROBOT * robots,
      ),
      atLeast("conveyor streams open at once", conveyors.open, CONVEYOR_STREAMS),
      atMost(
        "p99 to the others while one does not read, ms more",
        slow.window.latencyMs.p99 - Math.max(before.latencyMs.p99, after.latencyMs.p99),
        DISTURBANCE_MS,
      ),
      atLeast("the one that did not read was cut off", slow.http2Code === ENHANCE_YOUR_CALM ? 1 : 0, 1),
    ],
    table: [
      row(
        `${robots} robots on patrol, ${SUBSCRIBERS} subscribers of all`,
        "alone",
        "one stuck",
        "+ conveyors",
      ),
      line("messages a second, the subscriber with the fewest", seen, ({ fewest }) => fewest),
      line("messages a second, the one with the most", seen, ({ most }) => most),
      line("latency p50 ms", seen, ({ latencyMs }) => latencyMs.p50),
      line("latency p99 ms", seen, ({ latencyMs }) => latencyMs.p99),
      line("service, cores", seen, ({ cores }) => cores),
      line("service, most RssAnon MB", seen, ({ rssAnonMb }) => rssAnonMb),
      row("a subscriber that does not read is cut off after s", slow.afterSeconds),
      row(`${conveyors.open} conveyor streams open in s`, conveyors.seconds),
      row("memory a stream, kB", kilobytes),
    ].join("\n"),
  };
}

function line(
  label: string,
  { alone: [before, after], slow, conveyors }: Seen,
  of: (window: Window) => number,
): string {
  return row(label, of(before), of(slow.window), of(after), of(conveyors.window));
}

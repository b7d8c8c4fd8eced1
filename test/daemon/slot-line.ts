import { openPlc, type Plc } from "../e2e/plc.ts";
import { createBlockController, type Retained } from "../e2e/plc-controller.ts";
import type { Held, HoldingRelay } from "../support/holding-relay.ts";

/** What the program said of a mission that its machine wanted; `null`: nothing that it could be held to. */
export type Told = { readonly said: (typeof words)[number]; readonly outcome: number } | null;

const words = ["Done", "NotSent", "LookFirst", "Error"] as const;

/** Where in a cycle a PLC loses power, or its cable: behind which step, and what becomes of the write. */
const moments = [
  "before the read",
  "before the write",
  "the write is lost",
  "the write comes late",
  "after the write",
] as const;
type Moment = (typeof moments)[number];

/** What a PLC still has afterwards. */
const losses = ["power, memory retained", "power, memory lost", "the connection"] as const;
type Loss = (typeof losses)[number];

interface Crash {
  readonly moment: Moment;
  readonly loss: Loss;
  /** So many cycles after the mission was asked for. */
  readonly cycle: number;
  /** So many cycles later the write comes, if it comes. */
  readonly lateCycles: number;
}

/** A machine with its PLC, which runs the page's block, crashes, and goes on. */
export interface SlotLine {
  /** Wants missions, one after the other, until `signal` is aborted. Its PLC crashes in most of them. */
  run(signal: AbortSignal): Promise<void>;
  /** What it was told, by the number of the destination. */
  readonly told: ReadonlyMap<number, Told>;
  close(): Promise<void>;
}

export interface LineParts {
  readonly robot: string;
  readonly relay: HoldingRelay;
  /** The numbers of the destinations, each for one mission. */
  readonly nextDestination: () => number;
  readonly random: () => number;
  /** Resolves when the gateway takes connections. */
  readonly gatewayUp: () => Promise<unknown>;
  /** A step of a cycle is done. */
  readonly onStep: () => void;
  readonly onCrash: (crash: Pick<Crash, "moment" | "loss">) => void;
}

/** How many of the missions meet a crash of their PLC. */
const CRASHING = 0.8;
const CYCLE_MS = 100;
const LONGEST_CRASH_CYCLES = 7;
const LONGEST_LATE_CYCLES = 25;
/**
 * Longer than evidence is sought for what a killed gateway had sent, on any machine, and longer than the
 * service refuses tokens: it gives 20 in 5 minutes, and each life of the gateway takes one
 * (docs/internals/service.md, ERR-56).
 */
const PATIENCE_MS = 420_000;

/** The PLC is not connected any more, or was not answered. */
class ConnectionLost extends Error {}
/** A crash that was planned happens here. */
class Crashed extends Error {}

export function createSlotLine(parts: LineParts): SlotLine {
  const { robot, relay, random } = parts;
  const told = new Map<number, Told>();
  const late: Array<{ readonly held: Held; dueCycle: number }> = [];
  let plc: Plc | null = null;
  let nowMs = 0;
  let cycles = 0;
  /** The crash of this cycle, if there is to be one. */
  let now: Crash | null = null;
  /** The button of a mission is pressed in this cycle, and the program has seen it. */
  let isAsking = false;
  let isStartSeen = false;
  let controller = newController();

  function newController(retained?: Retained) {
    return createBlockController({ robot, session: () => session, nowMs: () => nowMs, retained });
  }

  const session: Pick<Plc, "shown" | "write"> = {
    async shown(...tags) {
      if (now?.moment === "before the read") throw new Crashed();
      return step(async (to) => {
        const shown = await to.shown(...tags);
        const missing = shown.find(({ status }) => status === "BadNodeIdUnknown");
        if (missing !== undefined) throw new Error(`${missing.tag} is not there yet`);
        return shown;
      });
    },
    async write(...values) {
      isStartSeen ||= isAsking && (controller.output("Busy") || controller.output("NotSent"));
      if (now?.moment === "before the write") throw new Crashed();
      if (now?.moment === "the write is lost" || now?.moment === "the write comes late") {
        const held = relay.hold();
        // Nobody waits for its answer.
        plc?.write(...values).catch(() => {});
        await step(() => held.caught);
        if (now.moment === "the write comes late") late.push({ held, dueCycle: cycles + now.lateCycles });
        throw new Crashed();
      }
      const statuses = await step((to) => to.write(...values));
      if (now?.moment === "after the write") throw new Crashed();
      return statuses;
    },
  };

  async function step<T>(ask: (plc: Plc) => Promise<T>): Promise<T> {
    if (plc === null) throw new ConnectionLost();
    try {
      return await Promise.race([ask(plc), plc.lost()]);
    } catch (cause) {
      throw new ConnectionLost("", { cause });
    } finally {
      parts.onStep();
    }
  }

  async function connected(): Promise<Plc> {
    try {
      return await openPlc(`opc.tcp://localhost:${relay.port}`, undefined, 0);
    } catch (cause) {
      throw new ConnectionLost("", { cause });
    }
  }

  async function disconnect(): Promise<void> {
    relay.cut();
    await plc?.abandon();
    plc = null;
  }

  async function crash({ moment, loss }: Crash): Promise<void> {
    now = null;
    parts.onCrash({ moment, loss });
    await disconnect();
    if (loss === "the connection") controller.cycleWithoutConnection();
    else controller = newController(loss === "power, memory retained" ? controller.retained() : undefined);
  }

  /** One cycle, whatever happens in it. @returns what was lost, null: nothing */
  async function cycle(wanted: readonly number[] | null): Promise<Loss | null> {
    cycles += 1;
    nowMs += CYCLE_MS;
    isAsking = wanted !== null;
    for (const write of late.filter(({ dueCycle }) => dueCycle <= cycles)) {
      late.splice(late.indexOf(write), 1);
      await write.held.deliver();
    }
    try {
      if (plc === null) {
        await parts.gatewayUp();
        plc = await connected();
      }
      await controller.cycle(wanted === null ? {} : { execute: true, wanted });
      return null;
    } catch (error) {
      if (error instanceof Crashed && now !== null) {
        const { loss } = now;
        await crash(now);
        return loss;
      }
      if (!(error instanceof ConnectionLost)) throw error;
      // The gateway has been killed, or is not there yet.
      now = null;
      controller.cycleWithoutConnection();
      await disconnect();
      return "the connection";
    }
  }

  function planned(): Crash | null {
    if (random() >= CRASHING) return null;
    const below = (end: number) => Math.floor(random() * end);
    return {
      moment: moments[below(moments.length)] as Moment,
      loss: losses[below(losses.length)] as Loss,
      cycle: below(LONGEST_CRASH_CYCLES),
      lateCycles: below(LONGEST_LATE_CYCLES),
    };
  }

  /** Numbers the cycles of one stage; throws when it takes too long. */
  function* patience(stage: string): Generator<number> {
    const untilMs = performance.now() + PATIENCE_MS;
    for (let count = 0; performance.now() < untilMs; count += 1) yield count;
    throw new Error(`${robot}: in ${PATIENCE_MS} ms not: ${stage}; Answer ${controller.answer().join(" ")}`);
  }

  /** A machine that asks at another moment is told "not sent". */
  async function idle(): Promise<void> {
    for (const _ of patience("the program is at rest")) {
      await cycle(null);
      if (controller.output("CanExecute")) return;
    }
  }

  /** Wants one mission, until the program is at rest. */
  async function want(destination: number): Promise<void> {
    const plan = planned();
    let mayAsk = true;
    let isForgotten = false;
    isStartSeen = false;
    for (const count of patience("the mission has ended")) {
      now = plan?.cycle === count ? plan : null;
      const loss = await cycle(mayAsk ? [1, destination] : null);
      // The button is pressed until the program has seen it. After a loss nobody presses it again.
      if (loss !== null || isStartSeen) mayAsk = false;
      if (loss === "power, memory lost") isForgotten = true;
      // What it shows counts from the first cycle that it has run after a loss.
      if (loss !== null || mayAsk || controller.output("Busy")) continue;
      // Without a start, or its memory, the program says nothing of this mission.
      told.set(destination, isStartSeen && !isForgotten ? said() : null);
      return;
    }
  }

  function said(): Told {
    const [name] = words.filter((each) => controller.output(each));
    return name === undefined ? null : { said: name, outcome: controller.outcome() };
  }

  return {
    told,
    async run(signal) {
      while (!signal.aborted) {
        await idle();
        await want(parts.nextDestination());
      }
      for (const { held } of late.splice(0)) await held.deliver();
      await idle();
    },
    async close() {
      await plc?.close();
      await relay.close();
    },
  };
}

import { setTimeout as wait } from "node:timers/promises";
import { outcomeNumbers } from "../../../src/domain/outcome.ts";
import { openPlc, type Plc } from "../../e2e/plc.ts";

/**
 * How a mission of a slot ended, as the slot's verdict says (docs/opcua-reference.md, The rules of a slot).
 */
export interface SlotEnd {
  readonly outcome: string;
  readonly code: string;
}

/** A PLC that drives one robot by its mission slot. It uses the box that says that it leads. */
export interface SlotLine {
  /** Sends the robot to a pose. Null: no box told how it ended until it was over. */
  drive(number: number, headingMilli: number, isOver: () => boolean): Promise<SlotEnd | null>;
  /** The number that the slot of the box that leads shows, if it is another one than before; null: none. */
  take(isOver: () => boolean): Promise<number | null>;
  close(): Promise<void>;
}

const CYCLE_MS = 120;
/** A box that is paused, or gone, does not answer. */
const ANSWER_MS = 1_500;
const ASK_AFTER_MS = 5_000;
const ASK_AGAIN_MS = 1_000;
const COMMAND_LENGTH = 12;
const NAVIGATE_TO_POSE = 70;
/** Of `Answer`. */
const NEXT = 7;
const ERROR = 3;
const MY = 9;
const VERDICT = 10;
const OUTCOME = 11;
const UNDER_WAY = 2;
const ENDED = 3;
const NEVER_SENT = 4;
const LOOK_FIRST = 5;
/** The first number of a box that stands by. */
const STOP_ONLY = 2 ** 30;

/** @param urls of the OPC UA servers of the boxes */
export function createSlotLine(urls: readonly string[], robot: string): SlotLine {
  const slot = `Robots.${robot}.MissionSlot`;
  const plcs = new Map<string, Plc>();
  let last = 0;

  async function inTime<T>(url: string, ask: (plc: Plc) => Promise<T>): Promise<T | null> {
    const answered = (async () => {
      const plc = plcs.get(url) ?? (await openPlc(url, undefined, 0));
      plcs.set(url, plc);
      return ask(plc);
    })();
    const late = wait(ANSWER_MS, null, { ref: false });
    const answer = await Promise.race([answered, late]).catch(() => null);
    if (answer === null) {
      answered.catch(() => {});
      const plc = plcs.get(url);
      plcs.delete(url);
      plc?.abandon().catch(() => {});
    }
    return answer;
  }

  /** What the slot of the box that leads shows; null: none says that it does. */
  async function look(): Promise<{ readonly url: string; readonly answer: readonly number[] } | null> {
    for (const url of urls) {
      const shown = await inTime(url, (plc) => plc.shown("Gateway.Active", `${slot}.Answer`));
      if (shown?.[0]?.value === true && Array.isArray(shown[1]?.value))
        return { url, answer: shown[1].value as readonly number[] };
    }
    return null;
  }

  async function write(url: string, numbers: readonly number[]): Promise<void> {
    const value = new Int32Array(COMMAND_LENGTH);
    value.set(numbers);
    await inTime(url, (plc) =>
      plc.write([`${slot}.Command`, { dataType: "Int32", arrayType: "Array", value }]),
    );
  }

  return {
    async take(isOver) {
      while (!isOver()) {
        const next = (await look())?.answer[NEXT] ?? 0;
        if (next !== 0 && next !== last && next < STOP_ONLY) return next;
        await wait(CYCLE_MS);
      }
      return null;
    },
    async drive(my, headingMilli, isOver) {
      last = my;
      let url = (await look())?.url ?? null;
      if (url !== null) await write(url, [my, NAVIGATE_TO_POSE, 3_000, 0, headingMilli]);
      let askAtMs = performance.now() + ASK_AFTER_MS;
      while (!isOver()) {
        await wait(CYCLE_MS);
        const seen = await look();
        if (seen === null) continue;
        const { answer } = seen;
        const verdict = answer[MY] === my ? (answer[VERDICT] ?? 0) : 0;
        const end = endOf(verdict, answer);
        if (end !== null) return end;
        if (seen.url !== url) askAtMs = performance.now();
        url = seen.url;
        if (verdict >= UNDER_WAY || performance.now() < askAtMs) continue;
        askAtMs = performance.now() + ASK_AGAIN_MS;
        await write(url, [-my]);
      }
      return null;
    },
    async close() {
      await Promise.all([...plcs.values()].map((plc) => plc.abandon().catch(() => {})));
    },
  };
}

function endOf(verdict: number, answer: readonly number[]): SlotEnd | null {
  if (verdict === NEVER_SENT) return { outcome: "expired", code: "NEVER_SENT" };
  if (verdict === LOOK_FIRST) return { outcome: "unknown", code: "LOOK_FIRST" };
  if (verdict !== ENDED) return null;
  const found = Object.entries(outcomeNumbers).find(([, number]) => number === answer[OUTCOME]);
  const error = answer[ERROR];
  return { outcome: found?.[0] ?? "none", code: error === 0 ? "OK" : `E${error}` };
}

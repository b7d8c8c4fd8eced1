import { setTimeout as wait } from "node:timers/promises";
import type { Hold } from "../../../src/models/robot.ts";
import type { TestRobot } from "../../contract/contract-harness.ts";
import { newCommand } from "../../daemon/crash-rounds-clients.ts";
import { type Asked, isUnrecorded, type Told } from "../../daemon/crash-rounds-story.ts";
import type { Box } from "./box.ts";
import type { ServiceLog } from "./service-log.ts";

/** What a client was told, and when. */
export interface BoxTold extends Told {
  readonly box: string;
  readonly askedAtMs: number;
  /** It is the outcome of a command that was known already. */
  readonly duplicate: boolean;
  /** On the monotonic clock. */
  readonly atMs: number;
}

/** A command of a round. */
export interface Command extends Asked {
  readonly robotId: string;
  readonly askedAtMs: number;
  readonly told: BoxTold[];
  /** The life of the box that took it; null: none yet. */
  takenBy: number | null;
  /** What boxes said that do not lead. */
  readonly standby: BoxTold[];
}

/** A robot was held: from when a box said that the hold is stored, until its release was asked for. */
export interface HeldTime {
  readonly robotId: string;
  readonly fromSeq: number;
  readonly fromMs: number;
  untilSeq: number;
}

/** Clients that know both boxes, and ask the other one with the same id. */
export interface Clients {
  readonly commands: readonly Command[];
  readonly held: readonly HeldTime[];
  /** Sends so many commands a second, and holds and releases robots, until it is aborted. */
  send(perSecond: number, signal: AbortSignal): Promise<void>;
  /** Resolves when each command has its outcome, or the time is over. */
  settled(withinMs: number): Promise<void>;
  /** Asks each command again. */
  askAgain(withinMs: number): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const EXPIRES_IN_MS = 10_000;
const WAIT_SECONDS = 2;
const AGAIN_MS = 150;
/** A box lets one user wait for so many outcomes only. */
const USERS = 6;
/** Of the robots, so many may be held at once. */
const MOST_HELD = 3;
const ASK_AGAIN_AT_ONCE = 24;

export function createClients(
  boxes: readonly [Box, Box],
  robots: readonly TestRobot[],
  log: ServiceLog,
  random: () => number,
  firstNumber: number,
): Clients {
  const commands: Command[] = [];
  const held: HeldTime[] = [];
  const open = new Set<Promise<void>>();
  const holding = new Set<string>();
  let untilMs = Number.POSITIVE_INFINITY;

  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const otherThan = (box: Box): Box => (box === boxes[0] ? boxes[1] : boxes[0]);

  /** Null: the box is away, or paused. Nothing is known. */
  async function request(
    box: Box,
    method: "GET" | "PUT",
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body?: object,
  ): Promise<Answer | null> {
    try {
      const answer = await box.pool.request({
        method,
        path: `/api/v1/${path}`,
        headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        body: body === undefined ? null : JSON.stringify(body),
      });
      return { status: answer.statusCode, body: (await answer.body.json()) as Answer["body"] };
    } catch {
      return null;
    }
  }

  /** Asks until one box tells an outcome. */
  async function ask(command: Command): Promise<void> {
    const { id, operation, request: wish } = command;
    let box = oneOf(boxes);
    while (performance.now() < untilMs) {
      const life = lifeOf(box.name, box.life());
      const askedAtMs = performance.now();
      const headers = { "fleetgate-user": userOf(id), prefer: `wait=${WAIT_SECONDS}` };
      const body = { operation, request: wish, expires_in_ms: EXPIRES_IN_MS };
      const answer = await request(box, "PUT", `commands/${id}`, headers, body);
      const told = answer === null ? null : toldOf(answer, box, life, askedAtMs);
      const isTaken = answer !== null && told?.code !== "STANDBY" && answer.body.duplicate === false;
      if (isTaken) command.takenBy ??= life;
      if (told !== null && isOfCommand(told)) {
        command.told.push(told);
        return;
      }
      if (told !== null) command.standby.push(told);
      if (answer?.status !== 202) box = otherThan(box);
      await wait(AGAIN_MS);
    }
  }

  function begin(): void {
    const robot = oneOf(robots);
    const asked = newCommand(firstNumber + commands.length, robot, random);
    const command: Command = {
      ...asked,
      robotId: robot.id,
      askedAtMs: performance.now(),
      told: [],
      takenBy: null,
      standby: [],
    };
    commands.push(command);
    const one = ask(command).finally(() => open.delete(one));
    open.add(one);
  }

  /** Holds a robot, or releases it: until a box says that this is stored. */
  async function hold(robotId: string, isHeld: boolean): Promise<boolean> {
    let box = oneOf(boxes);
    while (performance.now() < untilMs) {
      const headers = { "fleetgate-user": "holder" };
      await request(box, "PUT", `robots/${robotId}/hold`, headers, { hold: isHeld });
      const answer = await request(box, "GET", `robots/${robotId}`);
      const shown = answer?.body.hold as Hold | undefined;
      if (shown?.stored === true && shown.held === isHeld) return true;
      box = otherThan(box);
      await wait(AGAIN_MS);
    }
    return false;
  }

  async function holdForAWhile(robotId: string): Promise<void> {
    holding.add(robotId);
    if (await hold(robotId, true)) {
      const time: HeldTime = {
        ...{ robotId, fromSeq: log.read(), fromMs: performance.now() },
        untilSeq: Number.POSITIVE_INFINITY,
      };
      held.push(time);
      await wait(1_000 + random() * 4_000);
      time.untilSeq = log.read();
      await hold(robotId, false);
    }
    holding.delete(robotId);
  }

  return {
    commands,
    held,
    async send(perSecond, signal) {
      untilMs = Number.POSITIVE_INFINITY;
      for (let tick = 0; !signal.aborted; tick += 1) {
        begin();
        if (tick % perSecond === 0 && holding.size < MOST_HELD) {
          const { id } = oneOf(robots);
          const one = holding.has(id) ? Promise.resolve() : holdForAWhile(id);
          open.add(one);
          void one.finally(() => open.delete(one));
        }
        await wait(1_000 / perSecond);
      }
    },
    async settled(withinMs) {
      untilMs = performance.now() + withinMs;
      await Promise.all(open);
    },
    async askAgain(withinMs) {
      untilMs = performance.now() + withinMs;
      const left = [...commands];
      const work = async () => {
        for (let next = left.pop(); next !== undefined; next = left.pop()) await ask(next);
      };
      await Promise.all(Array.from({ length: ASK_AGAIN_AT_ONCE }, work));
    },
  };
}

/** One number for a life of a box. */
export const lifeOf = (box: string, life: number): number => 2 * life + (box === "box-a" ? 0 : 1);
const userOf = (id: string): string => `user-${Number(id.slice(1)) % USERS}`;

/** Null: no outcome yet. */
function toldOf({ status, body }: Answer, { name }: Box, life: number, askedAtMs: number): BoxTold | null {
  const { outcome, code, message, detail, duplicate } = body;
  if (status === 202 || typeof outcome !== "string") return null;
  const text = String(message ?? detail ?? "");
  return {
    ...{ box: name, life, outcome, code: String(code), message: text },
    ...{ askedAtMs, duplicate: duplicate === true, atMs: performance.now() },
  };
}

/** It is no answer of a box that does not lead, or ends. One that was recorded is an outcome all the same. */
function isOfCommand({ outcome, code, duplicate }: BoxTold): boolean {
  if (code === "STANDBY") return outcome === "refused" && duplicate;
  return code !== "SHUTTING_DOWN";
}

/** An outcome that must be the same whenever it is asked for. */
export const isFinal = (told: BoxTold): boolean => !isUnrecorded(told);

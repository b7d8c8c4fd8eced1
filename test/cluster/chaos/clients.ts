import { setTimeout as wait } from "node:timers/promises";
import type { Hold } from "../../../src/models/robot.ts";
import type { TestRobot } from "../../contract/contract-harness.ts";
import { newCommand } from "../../daemon/crash-rounds-clients.ts";
import { type Asked, isUnrecorded, type Told } from "../../daemon/crash-rounds-story.ts";
import type { Box } from "./box.ts";
import type { MqttClient } from "./mqtt-client.ts";
import { type Answer, request } from "./request.ts";
import type { ServiceLog } from "./service-log.ts";
import type { SlotLine } from "./slot-line.ts";

/** What a client was told, and when. */
export interface BoxTold extends Told {
  readonly box: string;
  readonly askedAtMs: number;
  /** It is the outcome of a command that was known already. */
  readonly duplicate: boolean;
  /** On the monotonic clock. */
  readonly atMs: number;
  /** The last entry of the service's record when it was told. */
  readonly seq: number;
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

const WAIT_SECONDS = 2;
const AGAIN_MS = 150;
const LOOK_MS = 10;
/** For a reply by MQTT. */
const REPLY_MS = 2_000;
/** The share of the commands that go through slots, if they keep pace. */
const BY_SLOTS = 0.4;
/** Exact for the service, whose headings have 24 bits; the other clients have positive ones. */
const HEADING_STEP = 125;
/** A box lets one user wait for so many outcomes only. */
const USERS = 6;
/** Of the robots, so many may be held at once. */
const MOST_HELD = 3;
const ASK_AGAIN_AT_ONCE = 24;

export interface ClientParts {
  readonly boxes: readonly [Box, Box];
  readonly robots: readonly TestRobot[];
  readonly log: ServiceLog;
  readonly mqtt: MqttClient;
  /** Of some of the robots. */
  readonly lines: ReadonlyMap<string, SlotLine>;
  readonly random: () => number;
  /** Of the first command. */
  readonly firstNumber: number;
  readonly expiresInMs: number;
}

export function createClients({
  boxes,
  robots,
  log,
  mqtt,
  lines,
  random,
  firstNumber,
  expiresInMs,
}: ClientParts): Clients {
  const commands: Command[] = [];
  const held: HeldTime[] = [];
  const open = new Set<Promise<void>>();
  const holding = new Set<string>();
  let untilMs = Number.POSITIVE_INFINITY;
  let replies = 0;
  let drives = 0;

  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const otherThan = (box: Box): Box => (box === boxes[0] ? boxes[1] : boxes[0]);

  const ask = (command: Command) => (command.protocol === "mqtt" ? askMqtt(command) : askBoxes(command));

  /** Publishes until the box that leads replies. */
  async function askMqtt(command: Command): Promise<void> {
    const { id, operation, request: wish } = command;
    const asked = { id, expires_in_ms: expiresInMs, request: wish };
    for (let copies = 1; performance.now() < untilMs; copies += 1) {
      const askedAtMs = performance.now();
      const reply = await mqtt.ask(userOf(id), operation, asked, REPLY_MS);
      // Nobody knows which life has replied: it counts as one of its own.
      replies += 1;
      const told =
        reply === null
          ? null
          : toldOf({ status: 200, body: reply }, { box: "mqtt", life: -replies, askedAtMs }, log);
      // What is refused before it is recorded binds nobody: an earlier copy, which comes late, may be taken.
      const isOfCopy = copies > 1 && told?.outcome === "refused" && !told.duplicate;
      if (told !== null && isOfCommand(told) && !isOfCopy) {
        command.told.push(told);
        return;
      }
      if (told !== null) await wait(AGAIN_MS);
    }
  }

  /** Asks until one box tells an outcome. */
  async function askBoxes(command: Command): Promise<void> {
    const { id, operation, request: wish } = command;
    let box = oneOf(boxes);
    while (performance.now() < untilMs) {
      const life = lifeOf(box.name, box.life());
      const askedAtMs = performance.now();
      const headers = { "fleetgate-user": userOf(id), prefer: `wait=${WAIT_SECONDS}` };
      const body = { operation, request: wish, expires_in_ms: expiresInMs };
      const answer = await request(box, "PUT", `commands/${id}`, headers, body);
      const told = answer === null ? null : toldOf(answer, { box: box.name, life, askedAtMs }, log);
      const isTaken = answer !== null && told?.code !== "STANDBY" && answer.body.duplicate === false;
      // Nobody knows which one, if it was started again meanwhile, or has not answered.
      if (answer === null) command.takenBy = null;
      if (isTaken) command.takenBy = life === lifeOf(box.name, box.life()) ? life : null;
      if (told !== null && isOfCommand(told)) {
        command.told.push(told);
        return;
      }
      if (told !== null) command.standby.push(told);
      if (answer?.status !== 202) box = otherThan(box);
      await wait(AGAIN_MS);
    }
  }

  function add(asked: Asked, robotId: string): Command {
    const added = { askedAtMs: performance.now(), told: [], takenBy: null, standby: [] };
    const command: Command = { ...asked, robotId, ...added };
    commands.push(command);
    return command;
  }

  function follow(work: Promise<void>): void {
    const one = work.finally(() => open.delete(one));
    open.add(one);
  }

  function begin(): void {
    const robot = oneOf(robots);
    follow(ask(add(newCommand(firstNumber + commands.length, robot, random), robot.id)));
  }

  /** The PLC of a robot sends it somewhere, again and again. */
  async function work(robotId: string, line: SlotLine, everyMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const beganMs = performance.now();
      const number = await line.take(() => signal.aborted);
      if (number === null) return;
      drives += 1;
      const id = `s${firstNumber + drives}`;
      const headingMilli = -HEADING_STEP * (firstNumber + drives);
      const goal = { pose: { xMeters: 3, yMeters: 0, headingRadians: headingMilli / 1_000 } };
      const command = add(
        {
          ...{ id, protocol: "opcua", operation: "CreateMission", isStop: false, told: [] },
          token: headingMilli / 1_000,
          request: { robotId, mission: { baseMission: { navigateMission: { goal } } } },
        },
        robotId,
      );
      const end = await line.drive(number, headingMilli, () => performance.now() > untilMs);
      if (end !== null) {
        const { askedAtMs } = command;
        replies += 1;
        command.told.push({
          ...{ ...end, box: "slot", life: -replies, message: "", askedAtMs, duplicate: false },
          ...{ atMs: performance.now(), seq: log.read() },
        });
      }
      await wait(Math.max(0, beganMs + everyMs - performance.now()));
    }
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
      const bySlots = lines.size === 0 ? 0 : BY_SLOTS * perSecond;
      for (const [robotId, line] of lines)
        follow(work(robotId, line, (1_000 * lines.size) / bySlots, signal));
      const beganMs = performance.now();
      for (let second = 0; !signal.aborted; await wait(LOOK_MS)) {
        const seconds = (performance.now() - beganMs) / 1_000;
        // What the slots have not asked for comes by the other ways.
        while (commands.length < seconds * perSecond) begin();
        if (seconds >= second && holding.size < MOST_HELD) {
          second += 1;
          const { id } = oneOf(robots);
          if (!holding.has(id)) follow(holdForAWhile(id));
        }
      }
    },
    async settled(withinMs) {
      untilMs = performance.now() + withinMs;
      await Promise.all(open);
    },
    async askAgain(withinMs) {
      untilMs = performance.now() + withinMs;
      // A slot keeps the verdict of its newest numbers only.
      const left = commands.filter(({ protocol }) => protocol !== "opcua");
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
function toldOf(
  { status, body }: Answer,
  asked: Pick<BoxTold, "box" | "life" | "askedAtMs">,
  log: ServiceLog,
): BoxTold | null {
  const { outcome, code, message, detail, duplicate } = body;
  if (status === 202 || typeof outcome !== "string") return null;
  const text = String(message ?? detail ?? "");
  return {
    ...{ ...asked, outcome, code: String(code), message: text },
    ...{ duplicate: duplicate === true, atMs: performance.now(), seq: log.read() },
  };
}

/** It is no answer of a box that does not lead, or ends. One that was recorded is an outcome all the same. */
function isOfCommand({ outcome, code, duplicate }: BoxTold): boolean {
  if (code === "STANDBY") return outcome === "refused" && duplicate;
  // The command is known, and the sender asks too often.
  if (outcome === "unknown" && (code === "QUEUE_FULL" || code === "RATE_LIMITED")) return false;
  return code !== "SHUTTING_DOWN";
}

/** An outcome that must be the same whenever it is asked for. */
export const isFinal = (told: BoxTold): boolean => !isUnrecorded(told);

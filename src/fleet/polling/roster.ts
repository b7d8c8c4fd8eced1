import type { UpdateSink } from "../../contracts/stage.ts";
import type { Presence, RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { isJsonObject, type Json } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import { createTimeSlices, type TimeSlices } from "../../platform/loop-time.ts";
import type { IdentifierGate, NumberIdentifier } from "../identifiers.ts";
import { splitList } from "../operations/split-list.ts";
import { presenceFromJson } from "../translate/messages.ts";
import { MalformedAnswer } from "../translate/snake-record.ts";
import type { ReadOperation } from "./reader.ts";

interface Listed {
  readonly robotId: RobotId;
  readonly presence: Presence;
  /** The robot's chain and map; null: none, or an invalid number. */
  readonly chainId: number | null;
  readonly mapId: number | null;
}

export interface RosterParts {
  readonly read: ReadOperation;
  readonly clock: Clock;
  readonly log: Log;
  readonly sink: UpdateSink;
  readonly identifiers: IdentifierGate;
  /** Whether it is a robot of the gateway. */
  readonly knows: (robotId: RobotId) => boolean;
  /** Robot numbers from the configuration. */
  readonly amrIds: ReadonlyMap<RobotId, number>;
}

/** Reads GetOnlineRobots and reports which robots are online. */
export interface Roster {
  turn(): Promise<void>;
  /** The chains of robots, by the last answer. */
  chainIds(): readonly number[];
  /**
   * Whether the last answer has robots, but none that the gateway knows: streams may not have named them yet.
   */
  isOfOthers(): boolean;
  readonly malformed: number;
  /** The maps of the gateway's robots, by the last answer. */
  mapIds(): ReadonlySet<number>;
}

/**
 * The answer of an idle fleet is the same each time, and is not parsed. A robot with the same record keeps
 * its Presence, the same object: the state sees without comparing that nothing changed.
 */
export function createRoster(parts: RosterParts): Roster {
  const { identifiers } = parts;
  const byNumber = new Map([...parts.amrIds].map(([robotId, amrId]) => [amrId, robotId]));
  let lastAnswer: Buffer | null = null;
  /** By the service's own text. */
  let listed: ReadonlyMap<string, Listed> = new Map();
  let malformed = 0;
  /** Robots whose records cannot be read. */
  let unread: readonly RobotId[] = [];
  let chainIds: readonly number[] = [];
  let mapIds: ReadonlySet<number> = new Set();
  let isOfOthers = false;

  /** 0 means none. */
  function named(kind: NumberIdentifier, id: number): number | null {
    return id !== 0 && identifiers.number(kind, id) ? id : null;
  }

  function readRobot(json: Json): Listed | null {
    try {
      const { name, presence } = presenceFromJson(json);
      const robotId = byNumber.get(presence.amrId) ?? name;
      if (!identifiers.text("robot_id", robotId)) return null;
      const chainId = named("task_chain_id", presence.taskChainId);
      return { robotId, presence, chainId, mapId: named("map_id", presence.mapId) };
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error;
      malformed += 1;
      if (malformed === 1) parts.log.error({ err: error }, "a robot of GetOnlineRobots cannot be read");
      return null;
    }
  }

  async function readRobots(text: string): Promise<ReadonlyMap<string, Listed>> {
    const slices = createTimeSlices();
    const robots = new Map<string, Listed>();
    const names = new Set<RobotId>();
    const nameless: RobotId[] = [];
    for (const words of await robotsOf(text, slices)) {
      await slices.next();
      const known = listed.get(words);
      const json: Json = known === undefined ? JSON.parse(words) : null;
      const robot = known ?? readRobot(json);
      if (robot === null) nameless.push(...namesIn(json, byNumber));
      else if (robots.has(words)) continue;
      else if (names.has(robot.robotId)) identifiers.refuse("robot_id", robot.robotId, "is listed twice");
      else {
        names.add(robot.robotId);
        robots.set(words, robot);
      }
    }
    unread = nameless;
    return robots;
  }

  return {
    get malformed() {
      return malformed;
    },
    mapIds: () => mapIds,
    isOfOthers: () => isOfOthers,
    chainIds: () => chainIds,
    async turn() {
      const answer = await parts.read("GetOnlineRobots", {});
      // An unchanged list is not decoded: decoding a text of 1,000 robots costs more than all that it causes.
      if (answer !== lastAnswer) {
        listed = await readRobots(String(answer));
        chainIds = Array.from(listed.values(), ({ chainId }) => chainId).filter((id) => id !== null);
        lastAnswer = answer;
      }
      const robots = [...listed.values()].filter(({ robotId }) => parts.knows(robotId));
      isOfOthers = robots.length === 0 && listed.size > 0;
      mapIds = new Set(robots.map(({ mapId }) => mapId).filter((mapId) => mapId !== null));
      const atMs = parts.clock.nowMs();
      parts.sink({ kind: "roster", atMs, robots, ...(unread.length === 0 ? {} : { unread }) });
    },
  };
}

async function robotsOf(text: string, slices: TimeSlices): Promise<readonly string[]> {
  const split = await splitList([text], ["robots"], slices);
  if (split === null || !isJsonObject(JSON.parse(split.rest))) {
    throw new MalformedAnswer("GetOnlineRobots should answer a list of robots");
  }
  return split.elements;
}

/** The robots that an unreadable record may belong to, as far as it names any. */
function namesIn(json: Json, byNumber: ReadonlyMap<number, RobotId>): readonly RobotId[] {
  if (!isJsonObject(json)) return [];
  const known = byNumber.get(Number(json.id));
  return [json.name, known].filter((name) => typeof name === "string");
}

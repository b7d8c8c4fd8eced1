import type { UpdateSink } from "../../contracts/update-sink.ts";
import type { Presence } from "../../domain/presence.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import { isJsonObject, type Json } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import { createTurns, type Turns } from "../../platform/turns.ts";
import type { IdentifierGate, NumberIdentifier } from "../identifiers.ts";
import { splitList } from "../operations/split-list.ts";
import { presenceFromJson } from "../translate/presence.ts";
import { MalformedAnswer } from "../translate/snake-record.ts";
import type { ReadOperation } from "./reader.ts";

interface Listed {
  readonly robotId: RobotId;
  readonly presence: Presence;
  /** The chain that it is at, and the map that it is on; null: none, or a number that cannot be one. */
  readonly chainId: number | null;
  readonly mapId: number | null;
}

export interface RosterParts {
  readonly read: ReadOperation;
  readonly clock: Clock;
  readonly log: Log;
  readonly sink: UpdateSink;
  readonly identifiers: IdentifierGate;
  /** Whether the gateway is for this robot. */
  readonly knows: (robotId: RobotId) => boolean;
  /** Robot numbers that configuration gives. */
  readonly amrIds: ReadonlyMap<RobotId, number>;
}

/** Reads GetOnlineRobots and tells which robots are online. */
export interface Roster {
  turn(): Promise<void>;
  /** The chains that robots are at now, by the last turn. */
  chainIds(): readonly number[];
  /**
   * Whether robots are listed, by the last turn, and the gateway knew none of them: streams may not have told
   * of them yet.
   */
  isOfOthers(): boolean;
  readonly malformed: number;
  /** The maps that the gateway's robots are on, by the last turn. */
  mapIds(): ReadonlySet<number>;
}

/**
 * The answer of a fleet at rest is the same each time, and is not parsed. A robot that is listed as before
 * keeps its Presence, the same object: state that holds it sees without comparing that nothing changed.
 */
export function createRoster(parts: RosterParts): Roster {
  const { identifiers } = parts;
  const byNumber = new Map([...parts.amrIds].map(([robotId, amrId]) => [amrId, robotId]));
  let lastAnswer: Buffer | null = null;
  /** By the service's own words. */
  let listed: ReadonlyMap<string, Listed> = new Map();
  let malformed = 0;
  /** Robots that are listed with a record that cannot be read. */
  let unread: readonly RobotId[] = [];
  let chainIds: readonly number[] = [];
  let mapIds: ReadonlySet<number> = new Set();
  let isOfOthers = false;

  /** 0 stands for none. */
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
    const turns = createTurns();
    const robots = new Map<string, Listed>();
    const names = new Set<RobotId>();
    const nameless: RobotId[] = [];
    for (const words of await robotsOf(text, turns)) {
      await turns.next();
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
      // Compared before it is decoded: a text of 1,000 robots costs more than all that follows from no
      // change.
      if (lastAnswer === null || !answer.equals(lastAnswer)) {
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

async function robotsOf(text: string, turns: Turns): Promise<readonly string[]> {
  const split = await splitList(text, ["robots"], turns);
  if (split === null || !isJsonObject(JSON.parse(split.rest))) {
    throw new MalformedAnswer("GetOnlineRobots should answer a list of robots");
  }
  return split.elements;
}

/** Robots that a record that cannot be read may be about, as far as it says. */
function namesIn(json: Json, byNumber: ReadonlyMap<number, RobotId>): readonly RobotId[] {
  if (!isJsonObject(json)) return [];
  const known = byNumber.get(Number(json.id));
  return [json.name, known].filter((name) => typeof name === "string");
}

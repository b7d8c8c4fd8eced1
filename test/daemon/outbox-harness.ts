import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromJson } from "@bufbuild/protobuf";
import mqtt from "mqtt";
import { expect, vi } from "vitest";
import { Refusal } from "../../src/simulator/refusal.ts";
import { MissionSchema } from "../../src/wire/fleet/v1/mission_pb.js";
import { contractScenario, createRobotPool, type TestRobot } from "../contract/contract-harness.ts";
import type { Published } from "../support/recording-relay.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";
import { judgeCommands, judgeMissions, unfinishedMissions } from "./outbox-rounds.ts";

const ROBOTS = 40;
const LOAD_MS = 25;
const COMMAND_SHARE = 0.2;
/** Real time before a fault, at least: any moment is to be met. */
export const CALM_MS = 300;
/** From an open stream to the first look at what it brings. */
const LOOK_MS = 5;
const STREAMS_MS = 60_000;
/** A gateway that starts without its broker may wait for its longest backoff, 30 s, before it connects. */
const LAST_EVENTS_MS = 90_000;

/** Where the gateway and its clients find the broker. */
export interface BrokerPlace {
  /** `mqtt.broker` of the gateway. */
  readonly broker: string;
  /** The port for clients. */
  readonly port: number;
  /** Resolves when the events may begin. */
  readonly ready?: () => Promise<void>;
  /** Other sections of the configuration. */
  readonly sections?: Readonly<Record<string, unknown>>;
}

/** A gateway under load, which ends and starts on demand. */
export interface OutboxScene {
  /** Ends the gateway by `kill -9`, or in order, and starts it again. `between` happens while it is away. */
  restartGateway(how: "killed" | "stopped", between?: () => Promise<void>): Promise<void>;
  /** Ends the load, waits for the last events and holds all of them against what happened. */
  evaluate(published: readonly Published[]): Promise<void>;
}

/** The simulator, a gateway on the disk of `folder`, missions of other clients and commands of one. */
export async function startOutboxScene(
  place: BrokerPlace,
  folder: string,
  random: () => number,
  cleanups: Array<() => Promise<unknown>>,
): Promise<OutboxScene> {
  const fresh = createRobotPool();
  const robots = Array.from({ length: ROBOTS }, () => fresh("base"));
  const scenario = { kind: "given", scenario: contractScenario() } as const;
  const simulator = await startSimulator({ scenario, timeFactor: 60 });
  cleanups.push(() => simulator.stop());
  const ids = robots.map(({ id }) => id);
  const { endpoints } = simulator;
  const config = await writeConfiguration(folder, "outbox", endpoints, ids, place.broker, place.sections);
  const url = `mqtt://127.0.0.1:${place.port}`;
  const client = mqtt.connect(url, { reconnectPeriod: 100, queueQoSZero: false });
  client.on("error", () => {});
  cleanups.push(() => client.endAsync(true));

  async function startGateway(): Promise<Daemon> {
    const started = startDaemon(config);
    cleanups.push(() => started.kill());
    await started.says(READY);
    return started;
  }
  /** One stream has the missions of all robots. */
  const streamIs = (count: number) =>
    vi.waitFor(() => expect(simulator.missionStreams()).toBe(count), {
      timeout: STREAMS_MS,
      interval: LOOK_MS,
    });
  let daemon = await startGateway();
  await streamIs(1);
  await place.ready?.();
  const missions = watchMissions(simulator);
  cleanups.push(async () => missions.stop());
  const load = createLoad(simulator, robots, client, random);
  cleanups.push(async () => load.stop());
  const auditPath = join(folder, "data", "audit", "audit.jsonl");
  // On a busy machine the first command may come late: the rounds are to find some.
  await vi.waitFor(() => expect(existsSync(auditPath)).toBe(true), 60_000);

  return {
    async restartGateway(how, between = async () => {}) {
      const endedAtMs = Date.now();
      if (how === "killed") {
        await untilLogged(join(folder, "data"));
        await daemon.kill();
      }
      // Not judged by its exit code: on a busy machine it may leave commands behind, and says so.
      else await daemon.stop();
      await between();
      await streamIs(0);
      daemon = await startGateway();
      await streamIs(1);
      missions.gap(endedAtMs);
    },
    async evaluate(published) {
      load.stop();
      const record = () => simulator.control.record(0);
      const readAudit = () => readFileSync(auditPath, "utf8").trim().split("\n");
      await vi.waitFor(() => {
        const unfinished = unfinishedMissions(published, record(), missions.isMissed);
        expect(unfinished.map((text) => `${text}, ${missions.when(text)}`)).toEqual([]);
        expect(judgeCommands(published, readAudit())).toEqual([]);
      }, LAST_EVENTS_MS);
      expect(await daemon.stop()).toBe(0);
      const verdict = judgeMissions(published, record());
      const audit = readAudit();
      if (process.env.OUTBOX_FIGURES !== undefined)
        process.stderr.write(
          `${JSON.stringify({ ...verdict, faults: verdict.faults.length, commands: audit.length })}\n`,
        );
      expect(verdict.faults).toEqual([]);
      expect(judgeCommands(published, audit)).toEqual([]);
      expect(verdict.missions).toBeGreaterThan(20);
      // Else this would show nothing of outages, nor of what a gateway misses while it is down.
      expect(verdict.historical).toBeGreaterThan(0);
      expect(verdict.jumps).toBeGreaterThan(0);
    },
  };
}

/**
 * Resolves when all that has happened until now is in the log of the gateway's outbox, however busy machine
 * and disk are: the gateway has received it, for it has answered since, and the log has grown twice. It grows
 * in the order of the events, and its next piece has all that waits when it begins.
 */
async function untilLogged(dataDir: string): Promise<void> {
  await answered(join(dataDir, "control.sock"));
  for (let grown = 0; grown < 2; grown += 1) {
    const before = logSizes(dataDir);
    const grows = () => expect(logSizes(dataDir)).not.toEqual(before);
    await vi.waitFor(grows, { timeout: LAST_EVENTS_MS, interval: LOOK_MS });
  }
}

function logSizes(dataDir: string): readonly string[] {
  const folder = join(dataDir, "outbox");
  const files = readdirSync(folder).filter((name) => name.startsWith("log-"));
  return files.map((name) => `${name} ${statSync(join(folder, name), { throwIfNoEntry: false })?.size}`);
}

/** Resolves when the gateway answers at its control socket, whatever it answers. */
function answered(socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const answer = get({ socketPath, path: "/" }, (response) => response.resume().once("end", resolve));
    answer.once("error", reject);
  });
}

/** A folder of the test's own. */
export async function makeFolder(cleanups: Array<() => Promise<unknown>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-outbox-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Missions of other clients, and commands of one that goes on whatever happens to its broker. */
function createLoad(
  simulator: RunningSimulator,
  robots: readonly TestRobot[],
  client: mqtt.MqttClient,
  random: () => number,
) {
  let commands = 0;

  function strike(): void {
    const robot = robots[Math.floor(random() * robots.length)];
    if (robot === undefined) throw new Error("there are no robots");
    const goal = { pose: { xMeters: 3 * random(), yMeters: 0, headingRadians: 0 } };
    const mission = { baseMission: { navigateMission: { goal } } };
    if (random() < COMMAND_SHARE) {
      commands += 1;
      const command = { id: `c${commands}`, expires_in_ms: 5_000, request: { robotId: robot.id, mission } };
      client.publish("fleetgate/outbox/clients/scada/command/CreateMission", JSON.stringify(command));
      return;
    }
    try {
      simulator.control.startMission(robot.id, "touchscreen", fromJson(MissionSchema, mission));
    } catch (error) {
      // The robot is busy.
      if (!(error instanceof Refusal)) throw error;
    }
  }

  const timer = setInterval(strike, LOAD_MS);
  return { stop: () => clearInterval(timer) };
}

/**
 * When, by this machine's clock, each mission came to the state that it has, and when no gateway was there.
 */
function watchMissions(simulator: RunningSimulator) {
  const changedAtMs = new Map<string, number>();
  const gaps: Array<{ readonly fromMs: number; readonly toMs: number }> = [];
  let seq = 0;
  const look = () => {
    for (const entry of simulator.control.record(seq)) {
      seq = entry.seq;
      if (entry.fact.what === "mission") changedAtMs.set(entry.fact.missionId, Date.now());
    }
  };
  const timer = setInterval(look, LOAD_MS);
  return {
    stop: () => clearInterval(timer),
    /** No gateway was there from then until now. */
    gap(fromMs: number) {
      // On a busy machine the timer may be late: what has happened so far has not happened later.
      look();
      gaps.push({ fromMs, toMs: Date.now() });
    },
    /** When the mission with which a text begins changed last, for the report of a failure. */
    when(text: string) {
      const atMs = changedAtMs.get(text.split(" ", 1)[0] ?? "") ?? Number.NaN;
      return `changed ${gaps.map(({ fromMs, toMs }) => `${atMs - fromMs} to ${atMs - toMs}`).join(", ")} ms after the gaps`;
    },
    isMissed(missionId: string) {
      const atMs = changedAtMs.get(missionId) ?? 0;
      return gaps.some(({ fromMs, toMs }) => atMs > fromMs && atMs < toMs + LOAD_MS);
    },
  };
}

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fromJson } from "@bufbuild/protobuf";
import mqtt from "mqtt";
import { afterEach, expect, test, vi } from "vitest";
import { Refusal } from "../../src/simulator/refusal.ts";
import { MissionSchema } from "../../src/wire/fleet/v1/mission_pb.js";
import { contractScenario, createRobotPool, type TestRobot } from "../contract/contract-harness.ts";
import { haveMosquitto, runMosquitto } from "../northbound/mqtt/mosquitto.ts";
import { freePorts } from "../support/free-ports.ts";
import { startRecordingRelay } from "../support/recording-relay.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { seededChance } from "./chance.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";
import { judgeCommands, judgeMissions, unfinishedMissions } from "./outbox-rounds.ts";

/** By hand: `OUTBOX_ROUNDS=50 OUTBOX_STOP_MS=60000 npx vitest run test/daemon/outbox-crash.test.ts`. */
const ROUNDS = Number(process.env.OUTBOX_ROUNDS ?? 5);
const SEED = Number(process.env.OUTBOX_SEED ?? 20_261_123);
/** How long a broker is stopped: it keeps its connections, and answers nothing. */
const STOP_MS = Number(process.env.OUTBOX_STOP_MS ?? 1_500);
/** How long a broker is away at most. */
const MOST_AWAY_MS = 3_000;
const ROBOTS = 40;
const LOAD_MS = 25;
const COMMAND_SHARE = 0.2;
const CALM_MS = 300;
/** Before a kill: what has happened then may not be on the disk. With the time of two looks. */
const DURABLE_MS = 200;
/** After a start: until the streams of all robots are open. */
const SEEN_MS = 2_000;
const TEST_MS = 120_000 + ROUNDS * (20_000 + STOP_MS);

const kinds = [
  "broker restarts",
  "broker killed",
  "broker stopped",
  "gateway killed",
  "both killed",
] as const;

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A mosquitto that keeps its port over its ends. */
async function createBroker(folder: string) {
  const port = await freePorts(1);
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    const configuration = `listener ${port} 127.0.0.1\nset_tcp_nodelay true\nallow_anonymous true\n`;
    child = await runMosquitto(join(folder, "mosquitto.conf"), configuration);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    child = null;
    if (ending === null || ending.exitCode !== null) return;
    ending.kill(signal);
    await once(ending, "exit");
  }

  await start();
  cleanups.push(() => end("SIGKILL"));
  return { port, start, end, signal: (signal: NodeJS.Signals) => void child?.kill(signal) };
}

/** Missions of other clients, and commands of one that goes on whatever happens to its broker. */
function createLoad(
  simulator: RunningSimulator,
  robots: readonly TestRobot[],
  client: mqtt.MqttClient,
  chance: () => number,
) {
  let commands = 0;

  function strike(): void {
    const robot = robots[Math.floor(chance() * robots.length)];
    if (robot === undefined) throw new Error("there are no robots");
    const goal = { pose: { xMeters: 3 * chance(), yMeters: 0, headingRadians: 0 } };
    const mission = { baseMission: { navigateMission: { goal } } };
    if (chance() < COMMAND_SHARE) {
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
  return { stop: () => clearInterval(timer), commands: () => commands };
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
    gap: (fromMs: number, toMs: number) => void gaps.push({ fromMs, toMs }),
    isMissed(missionId: string) {
      const atMs = changedAtMs.get(missionId) ?? 0;
      return gaps.some(({ fromMs, toMs }) => atMs > fromMs - DURABLE_MS && atMs < toMs + SEEN_MS);
    },
  };
}

test.runIf(haveMosquitto)(
  `brokers and gateways end at random points (seed ${SEED}): every event arrives, in order, once`,
  async () => {
    expect(existsSync("dist/main.js"), "npm run build comes first").toBe(true);
    const chance = seededChance(SEED);
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-outbox-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const fresh = createRobotPool();
    const robots = Array.from({ length: ROBOTS }, () => fresh("base"));
    const scenario = { kind: "given", scenario: contractScenario() } as const;
    const simulator = await startSimulator({ scenario, timeFactor: 60 });
    cleanups.push(() => simulator.stop());
    const broker = await createBroker(folder);
    const relay = await startRecordingRelay(broker.port, (topic) => topic.includes("/event/"));
    cleanups.push(relay.close);
    const ids = robots.map(({ id }) => id);
    const url = `mqtt://127.0.0.1:${relay.port}`;
    const config = await writeConfiguration(folder, "outbox", simulator.endpoints, ids, url);
    const client = mqtt.connect(`mqtt://127.0.0.1:${broker.port}`, {
      reconnectPeriod: 100,
      queueQoSZero: false,
    });
    client.on("error", () => {});
    cleanups.push(() => client.endAsync(true));

    let daemon: Daemon = await startGateway();
    async function startGateway(): Promise<Daemon> {
      const started = startDaemon(config);
      cleanups.push(() => started.kill());
      await started.says(READY);
      return started;
    }
    const missions = watchMissions(simulator);
    cleanups.push(async () => missions.stop());
    const load = createLoad(simulator, robots, client, chance);
    cleanups.push(async () => load.stop());
    const auditPath = join(folder, "data", "audit", "audit.jsonl");
    // On a busy machine the first command may come late: the rounds are to find some.
    await vi.waitFor(() => expect(existsSync(auditPath)).toBe(true), 60_000);

    for (let round = 0; round < ROUNDS; round += 1) {
      const kind = kinds[round < kinds.length ? round : Math.floor(chance() * kinds.length)];
      // Real time: any moment is to be met.
      await wait(CALM_MS + chance() * 1_000);
      if (kind === "broker restarts") await broker.end("SIGTERM");
      else if (kind === "broker stopped") broker.signal("SIGSTOP");
      else if (kind === "broker killed" || kind === "both killed") await broker.end("SIGKILL");
      if (kind === "gateway killed" || kind === "both killed") {
        const killedAtMs = Date.now();
        await daemon.kill();
        daemon = await startGateway();
        missions.gap(killedAtMs, Date.now());
      }
      if (kind === "gateway killed") continue;
      await wait(kind === "broker stopped" ? STOP_MS : MOST_AWAY_MS * chance());
      if (kind === "broker stopped") broker.signal("SIGCONT");
      else await broker.start();
    }
    await wait(CALM_MS);
    load.stop();

    const record = () => simulator.control.record(0);
    await vi.waitFor(
      () => expect(unfinishedMissions(relay.published, record(), missions.isMissed)).toEqual([]),
      30_000,
    );
    expect(await daemon.stop()).toBe(0);
    const verdict = judgeMissions(relay.published, record());
    const audit = readFileSync(auditPath, "utf8").trim().split("\n");
    if (process.env.OUTBOX_FIGURES !== undefined)
      process.stderr.write(
        `${JSON.stringify({ ...verdict, faults: verdict.faults.length, commands: audit.length })}\n`,
      );
    expect(verdict.faults).toEqual([]);
    expect(judgeCommands(relay.published, audit)).toEqual([]);
    expect(verdict.missions).toBeGreaterThan(20);
    // Else this would show nothing of outages, nor of what a gateway misses while it is down.
    expect(verdict.historical).toBeGreaterThan(0);
    expect(verdict.jumps).toBeGreaterThan(0);
  },
  TEST_MS,
);

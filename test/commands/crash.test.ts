import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { contractScenario, createRobotPool, type TestRobot } from "../contract/plant.ts";
import { listenMqtt, type MqttEar, type Reply } from "../e2e/mqtt-ear.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { seededChance } from "./chance.ts";
import { type Daemon, evidenceMs, startDaemon, writeConfiguration } from "./daemon.ts";
import { type Sent, storyOf } from "./story.ts";

/** Other points: `CRASH_SEED=7 CRASH_KILLS=50 npx vitest run test/commands/crash.test.ts`. */
const KILLS = Number(process.env.CRASH_KILLS ?? 8);
/** Every so many kills one comes before it is ready, and how soon after its start. */
const EARLY = 3;
const EARLY_WITHIN_MS = 3_000;
const ROBOTS = 10;
/** Stays below what one client may have in flight: a refusal for that would be no outcome of the journal. */
const IN_FLIGHT = 24;
/**
 * What the gateway promises after a start: a command of an earlier run has its outcome as soon as it was looked
 * into, which takes `evidenceMs` at most from when the service can be seen. Robots that are good can be seen.
 */
const OUTCOME_WITHIN_MS = evidenceMs;
/** What a message over the broker and a sync may take on a machine that has much to do. */
const SLACK_MS = 1_500;
const TEST_MS = 30_000 + KILLS * 15_000;
const SEED = Number(process.env.CRASH_SEED ?? 20_261_120);

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test(
  `kill -9 at random points (seed ${SEED}): nothing twice, nothing contradicted, nothing without an outcome`,
  async () => {
    expect(existsSync("dist/main.js"), "npm run build comes first").toBe(true);
    const chance = seededChance(SEED);
    const fresh = createRobotPool();
    const robots = Array.from({ length: ROBOTS }, () => fresh("base"));
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-crash-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const simulator = await startSimulator({
      scenario: { kind: "given", scenario: contractScenario() },
      // Robots take their time to confirm, so that a kill finds commands under way; missions are over soon.
      confirmMs: 40,
      timeFactor: 50,
    });
    cleanups.push(() => simulator.stop());
    const broker = await startPlantBroker();
    cleanups.push(() => broker.close());
    const ear = await listenMqtt(broker.url, "scada", "fleetgate/crash");
    cleanups.push(() => ear.close());
    const ids = robots.map(({ id }) => id);
    const config = await writeConfiguration(folder, "crash", simulator.endpoints, ids, broker.url);

    const sent: Sent[] = [];
    const unanswered = createTally(ear);
    let early = 0;
    let slowestMs = 0;
    for (let life = 0; life <= KILLS; life += 1) {
      const from = ear.heard.entries.length;
      const daemon = startDaemon(config);
      cleanups.push(() => daemon.kill());
      if (life < KILLS && life % EARLY === EARLY - 1) {
        // While it starts, or looks into what the one before had sent.
        await new Promise((resolve) => setTimeout(resolve, chance() * EARLY_WITHIN_MS));
        await daemon.kill();
        early += 1;
        continue;
      }
      await ready(ear, robots, from, daemon);
      slowestMs = Math.max(slowestMs, await askAgain(ear, sent));
      if (life === KILLS) break;
      const killAfterMs = 40 + chance() * 400;
      const killed = new Promise((resolve) => setTimeout(resolve, killAfterMs)).then(() => daemon.kill());
      let isKilled = false;
      void killed.then(() => {
        isKilled = true;
      });
      while (!isKilled) {
        if (unanswered(sent) < IN_FLIGHT) await sendOne(ear, robots, sent, chance);
        else await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await Promise.all(sent.map(({ id }) => ear.on(replyTopic(id))));
    expect(early, "some kills came while it started").toBeGreaterThan(0);
    expect(slowestMs, "every command has its outcome in time").toBeLessThan(OUTCOME_WITHIN_MS + SLACK_MS);
    // Once more: what was final stays as it was.
    await askAgain(ear, sent);
    const replies = repliesOf(ear, sent);

    const record = simulator.control.record(0);
    const stories = sent.map((each) => storyOf(each, replies.get(each.id) ?? [], record));
    expect(stories.flatMap(({ broken }) => broken)).toEqual([]);
    const outcomes = new Set(stories.map(({ outcome }) => outcome));
    expect(sent.length).toBeGreaterThan(50);
    // Kills in the middle leave commands that had been accepted, and commands that had been sent.
    expect([...outcomes], "the kills came in the middle").toEqual(expect.arrayContaining(["succeeded"]));
    expect(outcomes.has("probably_succeeded") || outcomes.has("unknown") || outcomes.has("expired")).toBe(
      true,
    );
  },
  TEST_MS,
);

/** Waits until this life of the gateway takes commands for every robot. */
async function ready(
  ear: MqttEar,
  robots: readonly TestRobot[],
  from: number,
  daemon: Daemon,
): Promise<void> {
  try {
    await Promise.all(
      robots.map(({ id }) => ear.on(`robots/${id}/availability`, (text) => text === "good", from)),
    );
  } catch (cause) {
    throw new Error(`the gateway did not come up: ${daemon.said().slice(-2_000)}`, { cause });
  }
}

const replyTopic = (id: string) => `clients/scada/reply/${id}`;

/** Counts the commands without a reply, looking at each message once. */
function createTally(ear: MqttEar): (sent: readonly Sent[]) => number {
  const told = new Set<string>();
  let place = 0;
  return (sent) => {
    for (const { topic } of ear.heard.entries.slice(place)) told.add(topic);
    place = ear.heard.entries.length;
    return sent.filter(({ id }) => !told.has(replyTopic(id))).length;
  };
}

async function publish(ear: MqttEar, { id, operation, request }: Sent): Promise<void> {
  const expiresAt = new Date(Date.now() + 20_000).toISOString();
  await ear.sendText(operation, JSON.stringify({ id, expires_at: expiresAt, request }));
}

/** A new command. Each can be known again in the service's record: by its heading, its reference, or the mission it names. */
async function sendOne(
  ear: MqttEar,
  robots: readonly TestRobot[],
  sent: Sent[],
  chance: () => number,
): Promise<void> {
  const number = sent.length + 1;
  const robot = robots[Math.floor(chance() * robots.length)];
  if (robot === undefined) throw new Error("there are no robots");
  const headingRadians = number / 1_024;
  const goal = { pose: { xMeters: 3, yMeters: 0, headingRadians } };
  const mission = { baseMission: { navigateMission: { goal } } };
  const which = chance();
  const id = `c${number}`;
  const command: Sent =
    which < 0.45
      ? { id, operation: "CreateMission", request: { robotId: robot.id, mission }, token: headingRadians }
      : which < 0.8
        ? { id, operation: "AppendMission", request: { robotId: robot.id, mission }, token: headingRadians }
        : {
            id,
            operation: "UpdateMission",
            request: { robotId: robot.id, missionCommand: { missionId: id, command: "COMMAND_RESUME" } },
            token: id,
          };
  sent.push(command);
  await publish(ear, command);
}

/**
 * What a sender does that has lost the reply: it asks again, with the same identity. Commands that are looked
 * into are so all at once.
 * @returns how long it took until all had their outcome
 */
async function askAgain(ear: MqttEar, sent: readonly Sent[]): Promise<number> {
  const sinceMs = performance.now();
  for (let start = 0; start < sent.length; start += IN_FLIGHT) {
    const some = sent.slice(start, start + IN_FLIGHT);
    const from = ear.heard.entries.length;
    for (const command of some) await publish(ear, command);
    await Promise.all(some.map(({ id }) => ear.on(replyTopic(id), () => true, from)));
  }
  return performance.now() - sinceMs;
}

/** All replies by command, in the order in which they came. */
function repliesOf(ear: MqttEar, sent: readonly Sent[]): ReadonlyMap<string, readonly Reply[]> {
  return new Map(
    sent.map(({ id }) => [id, ear.texts(replyTopic(id)).map((text) => JSON.parse(text) as Reply)]),
  );
}

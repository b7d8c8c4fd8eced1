import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { contractScenario, createRobotPool, type TestRobot } from "../contract/contract-harness.ts";
import { listenMqtt, type MqttEar, type Reply } from "../e2e/mqtt-ear.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { type Daemon, evidenceMs, READY, startDaemon, writeConfiguration } from "./daemon.ts";
import { createMischief, unhurriedRobots } from "./mischief.ts";
import { holdsAnywhere, type Sent, storyOf } from "./story.ts";

/** Other points: `CRASH_SEED=7 CRASH_KILLS=50 npx vitest run test/daemon/crash.test.ts`. */
const KILLS = Number(process.env.CRASH_KILLS ?? 8);
/** Every so many kills one comes before it is ready, and how soon after its start. */
const EARLY = 3;
const EARLY_WITHIN_MS = 3_000;
const ROBOTS = 10;
/**
 * How often, of all that happens: something goes wrong, a command is sent again, an identity is taken for
 * another.
 */
const [MISCHIEF, REPEATED, REUSED] = [0.08, 0.1, 0.04] as const;
/** Stays below what one client may have in flight: a refusal for that would be no outcome of the journal. */
const IN_FLIGHT = 24;
/** What a timer and a sync may be late by on a machine that has much to do. */
const SLACK_MS = 1_000;
const TEST_MS = 30_000 + KILLS * 15_000;
const SEED = Number(process.env.CRASH_SEED ?? 20_261_120);

/** No request that may be sent has this number in it. */
const REUSED_TOKEN = 2.5;

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test(
  `kill -9 at random points (seed ${SEED}): nothing twice, nothing contradicted, nothing without an outcome`,
  async () => {
    const random = seededRandom(SEED);
    const fresh = createRobotPool();
    const robots = Array.from({ length: ROBOTS }, () => fresh("base"));
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-crash-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const simulator = await startSimulator({
      scenario: { kind: "given", scenario: contractScenario() },
      ...unhurriedRobots,
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
    const mischief = createMischief(simulator, robots, random);
    let early = 0;
    const lives: Life[] = [];
    for (let life = 0; life <= KILLS; life += 1) {
      const from = ear.received.entries.length;
      const startedAtMs = Date.now();
      const daemon = startDaemon(config);
      cleanups.push(() => daemon.kill());
      if (life < KILLS && life % EARLY === EARLY - 1) {
        // While it starts, or looks into what the one before had sent. Time, for no event may say when: any
        // moment is to be met.
        await new Promise((resolve) => setTimeout(resolve, random() * EARLY_WITHIN_MS));
        await daemon.kill();
        lives.push({ startedAtMs, readyAtMs: Date.now() });
        early += 1;
        continue;
      }
      await ready(ear, robots, from, daemon);
      lives.push({ startedAtMs, readyAtMs: Date.now() });
      await askAgain(ear, sent);
      if (life === KILLS) break;
      // Time once more: waiting for something would spare the moments before it.
      const killAfterMs = 40 + random() * 1_500;
      const killed = new Promise((resolve) => setTimeout(resolve, killAfterMs)).then(() => daemon.kill());
      let isKilled = false;
      void killed.then(() => {
        isKilled = true;
      });
      while (!isKilled) {
        const inFlight = unanswered(sent);
        if (inFlight >= IN_FLIGHT) await Promise.race([nextReply(ear), killed]);
        else if (random() < MISCHIEF) mischief.strike();
        else if (random() < REPEATED && sent.length > 0) await publish(ear, anyOf(sent, random));
        else if (random() < REUSED && sent.length > inFlight) await reuse(ear, sent, random);
        else await sendOne(ear, robots, sent, random);
      }
    }
    await Promise.all(sent.map(({ id }) => ear.on(replyTopic(id))));
    expect(early, "some kills came while it started").toBeGreaterThan(0);
    const audit = join(folder, "data", "audit", "audit.jsonl");
    // Also of those whose gateway died before it had written it. The last may have replied a moment before.
    await vi.waitFor(
      async () => expect(await unaudited(audit, sent), "no line in the audit log").toEqual([]),
      20_000,
    );
    const delaysMs = await searchTimes(audit, lives);
    expect(delaysMs.length, "some commands were looked into by a later life").toBeGreaterThan(3);
    expect(Math.max(...delaysMs), "and had their outcome in time").toBeLessThan(evidenceMs + SLACK_MS);
    // Once more: what was final stays as it was.
    await askAgain(ear, sent);
    const replies = repliesOf(ear, sent);

    const record = simulator.control.record(0);
    const stories = sent.map((each) => storyOf(each, replies.get(each.id) ?? [], record));
    expect(stories.flatMap(({ broken }) => broken)).toEqual([]);
    expect(holdsAnywhere(record, REUSED_TOKEN), "a command under a used identity was sent").toBe(false);
    const outcomes = new Set(stories.map(({ outcome }) => outcome));
    expect(sent.length).toBeGreaterThan(50);
    // Else this would show nothing of kills, nor of what goes wrong.
    expect([...outcomes]).toEqual(expect.arrayContaining(["succeeded", "refused", "unknown"]));
    expect([...mischief.counts.keys()].sort()).toEqual(expect.arrayContaining(["drop", "foreign mission"]));
  },
  TEST_MS,
);

/** One process: when it was started, and when all robots were good or it was killed before. */
interface Life {
  readonly startedAtMs: number;
  readonly readyAtMs: number;
}

/**
 * What the gateway promises after a start: a command that an earlier life had sent has its outcome
 * `evidenceMs` at the latest after the service could be seen; robots that are good are seen.
 * @returns how long after that each of them had it, by the gateway's own audit log
 */
async function searchTimes(auditPath: string, lives: readonly Life[]): Promise<readonly number[]> {
  const lines = (await readFile(auditPath, "utf8")).trim().split("\n");
  return lines.flatMap((line) => {
    const { at, sent_at } = JSON.parse(line) as { at: string; sent_at: string | null };
    const finalAtMs = Date.parse(at);
    const life = lives.findLast(({ startedAtMs }) => startedAtMs <= finalAtMs);
    if (sent_at === null || life === undefined || Date.parse(sent_at) >= life.startedAtMs) return [];
    return [finalAtMs - life.readyAtMs];
  });
}

/** The commands that have not one line in the audit log, refusals of others under their identity left out. */
async function unaudited(auditPath: string, sent: readonly Sent[]): Promise<readonly string[]> {
  const lines = (await readFile(auditPath, "utf8")).trim().split("\n");
  const counts = new Map<string, number>();
  for (const line of lines) {
    const { request_id, code } = JSON.parse(line) as { request_id: string; code: string };
    if (code !== "IDENTITY_REUSED") counts.set(request_id, (counts.get(request_id) ?? 0) + 1);
  }
  return sent.filter(({ id }) => counts.get(id) !== 1).map(({ id }) => `${id}: ${counts.get(id) ?? 0}`);
}

/** Waits until this life of the gateway takes commands for every robot. */
async function ready(
  ear: MqttEar,
  robots: readonly TestRobot[],
  from: number,
  daemon: Daemon,
): Promise<void> {
  await daemon.says(READY);
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
    for (const { topic } of ear.received.entries.slice(place)) told.add(topic);
    place = ear.received.entries.length;
    return sent.filter(({ id }) => !told.has(replyTopic(id))).length;
  };
}

/** The next reply to anything: there is room for another command. */
function nextReply(ear: MqttEar): Promise<unknown> {
  return ear.received.first(
    "a reply",
    ({ topic }) => topic.startsWith(replyTopic("")),
    ear.received.entries.length,
  );
}

async function publish(ear: MqttEar, { id, operation, request }: Sent): Promise<void> {
  const expiresAt = new Date(Date.now() + 20_000).toISOString();
  await ear.sendText(operation, JSON.stringify({ id, expires_at: expiresAt, request }));
}

/**
 * A new command. Each can be known again in the service's record: by its heading, its reference, or the
 * mission it names.
 */
async function sendOne(
  ear: MqttEar,
  robots: readonly TestRobot[],
  sent: Sent[],
  random: () => number,
): Promise<void> {
  const number = sent.length + 1;
  const robot = robots[Math.floor(random() * robots.length)];
  if (robot === undefined) throw new Error("there are no robots");
  const headingRadians = number / 1_024;
  const goal = { pose: { xMeters: 3, yMeters: 0, headingRadians } };
  const mission = { baseMission: { navigateMission: { goal } } };
  const which = random();
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

function anyOf(sent: readonly Sent[], random: () => number): Sent {
  const found = sent[Math.floor(random() * sent.length)];
  if (found === undefined) throw new Error("nothing was sent yet");
  return found;
}

/** Another command under the identity of one that has its outcome: it must never be sent. */
async function reuse(ear: MqttEar, sent: readonly Sent[], random: () => number): Promise<void> {
  const { id, request } = anyOf(
    sent.filter((each) => ear.texts(replyTopic(each.id)).length > 0),
    random,
  );
  const goal = { pose: { xMeters: 1, yMeters: 0, headingRadians: REUSED_TOKEN } };
  const { robotId } = request as { robotId: string };
  const other = { robotId, mission: { baseMission: { navigateMission: { goal } } } };
  await publish(ear, { id, operation: "CreateMission", request: other, token: REUSED_TOKEN });
}

/** What a sender does that has lost the reply: it asks again, with the same identity. */
async function askAgain(ear: MqttEar, sent: readonly Sent[]): Promise<void> {
  for (let start = 0; start < sent.length; start += IN_FLIGHT) {
    const some = sent.slice(start, start + IN_FLIGHT);
    const from = ear.received.entries.length;
    for (const command of some) await publish(ear, command);
    await Promise.all(some.map(({ id }) => ear.on(replyTopic(id), () => true, from)));
  }
}

/**
 * All replies by command, in the order in which they came, but for those to another command under its
 * identity.
 */
function repliesOf(ear: MqttEar, sent: readonly Sent[]): ReadonlyMap<string, readonly Reply[]> {
  return new Map(
    sent.map(({ id }) => {
      const all = ear.texts(replyTopic(id)).map((text) => JSON.parse(text) as Reply);
      return [id, all.filter(({ code }) => code !== "IDENTITY_REUSED")];
    }),
  );
}

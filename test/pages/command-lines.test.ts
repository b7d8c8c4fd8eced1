import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { listenMqtt, type MqttEar } from "../e2e/mqtt-ear.ts";
import { expectationOf, expectations } from "./expectations.ts";
import { type CommandLine, commandLines, pages } from "./page.ts";
import { openPageShell, type PageShell, type Started, subscribed, tellingSubscription } from "./shell.ts";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 90_000 });

const PATIENCE_MS = 30_000;
const BETWEEN_RUNS_MS = 500;

/** What a line did that has ended. */
interface Ended {
  /** null: ended by a signal. */
  readonly code: number | null;
  readonly printed: string;
  readonly complaint: string;
}

/** Programs that the pages use, and that a machine may lack. */
const foreign = ["mosquitto_sub", "mosquitto_pub", "mosquitto_rr", "curl"];
const missing = foreign.filter((name) => spawnSync("which", [name]).status !== 0);
if (missing.length > 0) {
  if (process.env.CI) throw new Error(`CI must run every command line, and lacks ${missing.join(", ")}`);
  process.stderr.write(`command lines of the pages that need ${missing.join(", ")} are skipped\n`);
}

const lines = [...pages.keys()].flatMap(commandLines);

test("each command line of the pages has its row, and each row its command line", () => {
  expect(lines.length).toBeGreaterThan(50);
  const without = lines.filter(({ line }) => !expectations.some(([pattern]) => pattern.test(line)));
  expect(without.map(({ page, line }) => `${page}: ${line}`)).toEqual([]);
  const used = lines.map(({ line }) => expectations.find(([pattern]) => pattern.test(line)));
  expect(expectations.filter((row) => !used.includes(row)).map(([pattern]) => String(pattern))).toEqual([]);
});

test("a line that another test runs is there", () => {
  for (const line of lines) {
    const expectation = expectationOf(line);
    if (expectation.kind !== "elsewhere") continue;
    expect(readFileSync(expectation.file, "utf8"), line.line).toContain(expectation.has);
  }
});

let shell: PageShell;
let mqtt: MqttEar;
beforeAll(async () => {
  shell = await openPageShell();
  mqtt = await listenMqtt(shell.demo.mqtt, "pages", "fleetgate/demo");
});
afterAll(async () => {
  await mqtt.close();
  await shell.close();
});

const AVAILABILITY = "robots/cart-01/availability";
const MISSION_EVENTS = "robots/cart-01/event/mission";

/** Cancels the mission that a line has given to cart-01, so that the next line finds it free. */
async function freeCart(missionId: string): Promise<void> {
  await mqtt.on(MISSION_EVENTS, (text) => text.includes(missionId));
  const missionCommand = { missionId, command: "COMMAND_CANCEL" };
  await mqtt.send("UpdateMission", `free-${missionId}`, { robotId: "cart-01", missionCommand });
  const isOver = (text: string) => text.includes(missionId) && text.includes('"to":"STATE_CANCELED"');
  await mqtt.on(MISSION_EVENTS, isOver);
}

/** Resolves when the values of cart-01 are good: the faults of the page before may have made them stale. */
async function cartIsGood(): Promise<void> {
  if (mqtt.texts(AVAILABILITY).at(-1) === "good") return;
  await mqtt.on(AVAILABILITY, (text) => text === "good", mqtt.received.entries.length);
}

/** Runs a line that ends. One that shows values is run until it prints what its page says. */
async function runToItsEnd(line: CommandLine, until: RegExp | undefined): Promise<Ended> {
  for (const giveUpAt = Date.now() + PATIENCE_MS; ; await delay(BETWEEN_RUNS_MS)) {
    const started = shell.start(line);
    const code = await started.ended;
    const printed = started.out.entries.join("\n");
    if (until === undefined || until.test(printed) || Date.now() > giveUpAt)
      return { code, printed, complaint: started.complaint() };
  }
}

/** A line with the newest mission of cart-01 in the place where its reader writes it. */
async function withMission(line: string): Promise<string> {
  if (!line.includes("MISSION_ID")) return line;
  await mqtt.on(MISSION_EVENTS);
  return line.replace("MISSION_ID", JSON.parse(mqtt.texts(MISSION_EVENTS).at(-1) ?? "").mission_id);
}

async function runLine(line: CommandLine, follow: (started: Started, prints: RegExp) => void): Promise<void> {
  const expectation = expectationOf(line);
  if (foreign.some((name) => missing.includes(name) && line.line.includes(name))) return;
  if (expectation.kind === "follows") {
    const started = shell.start({ ...line, line: tellingSubscription(line.line) });
    if (line.line.startsWith("mosquitto_sub")) await subscribed(started);
    // One simulated service at a time: they share a port.
    if (!line.line.includes("simulate")) return follow(started, expectation.prints);
    await started.out.first(line.line, (text) => expectation.prints.test(text));
    await started.stop();
  }
  if (expectation.kind !== "ends") return;
  const until = expectation.again ? expectation.prints : undefined;
  const ended = await runToItsEnd({ ...line, line: await withMission(line.line) }, until);
  expect(ended, `${line.line}: ${ended.complaint}`).toMatchObject({
    code: typeof expectation.code === "number" ? expectation.code : expect.toBeOneOf([...expectation.code]),
    printed: expect.stringMatching(expectation.prints),
  });
  const [, missionId] = /"mission_id": "([^"]+)"/.exec(ended.printed) ?? [];
  if (missionId !== undefined) await freeCart(missionId);
  if (expectation.undo !== undefined) await shell.start({ ...line, line: expectation.undo }).ended;
}

test.each([...pages.keys()])("the command lines of %s do what the page says", async (page) => {
  const followed: Array<readonly [Started, RegExp]> = [];
  const causes: CommandLine[] = [];
  await cartIsGood();
  for (const line of commandLines(page)) {
    await runLine(line, (started, prints) => followed.push([started, prints]));
    const expectation = expectationOf(line);
    if (expectation.kind === "follows" && expectation.cause !== undefined)
      causes.push({ ...line, line: expectation.cause });
  }
  for (const cause of causes) await shell.start(cause).ended;
  for (const [started, prints] of followed) await started.out.first(`${prints}`, (text) => prints.test(text));
  for (const [started] of followed) await started.stop();
});

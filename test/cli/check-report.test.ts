import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkReport } from "../../src/cli/check-report.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { type ConfigFolder, createConfigFolder, minimal } from "../config/config-folder.ts";

const manual = createCatalogue();
let folder: ConfigFolder;

beforeEach(async () => {
  folder = await createConfigFolder();
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

async function report(text: string): Promise<string> {
  return checkReport(await folder.config(text), manual);
}

describe("what check says of a valid configuration", () => {
  it("computes the worst cases from its times", async () => {
    const text = await report(
      `${minimal}  times: { rosterPollMs: 500, callMs: 4000 }\nquality: { streamSilenceMs: 8000, resyncMs: 20000, holdMs: 60000 }\n`,
    );
    expect(text).toMatch(/^ {2}at once +a stream is cut/m);
    expect(text).toMatch(/^ {2}10\.5 s +a connection falls silent/m);
    expect(text).toMatch(/^ {2}20\.5 s +a robot's snapshot is not renewed/m);
    expect(text).toMatch(/^ {2}0\.5 s +a robot leaves the online list: offline \(8 s if/m);
    expect(text).toMatch(/^ {2}8\.5 s +the online list is not answered/m);
    expect(text).toMatch(/^ {2}\+ 60\.5 s +what is stale or offline is lost/m);
  });

  it("says who may command what", async () => {
    const text = await report(
      `${minimal}rights: [{ source: { door: cli, name: "*" }, role: operator, operations: [UpdateMission] }]\n`,
    );
    expect(text).toContain(
      "rights[0]: cli anybody, operator, all robots\n      UpdateMission (stops, moves)\n",
    );
    expect(text).toMatch(/whoever no rule names:\n +GetConveyorIndex \(reads\), .*GetMap \(reads\)\n/);
    expect(text).toMatch(/^ {2}cli +fleetgate call, through .*control\.sock$/m);
  });

  it("says which doors are shut, and why", async () => {
    const text = await report(`${minimal}mqtt: { broker: "mqtt://b" }\ncontrol: { enabled: false }\n`);
    expect(text).toMatch(/^ {2}mqtt +off: nothing says that the broker enforces client names$/m);
    expect(text).toMatch(/^ {2}opcua +off$/m);
    expect(text).toMatch(/^ {2}cli +off$/m);
  });

  it("says what REST without streams leaves unknown", async () => {
    expect(await report(minimal)).not.toContain("\nNote");
    const text = await report(`${minimal}  transport: rest\n`);
    expect(text).toMatch(/where they are not served, .* outcomes stay unknown/);
  });

  it("says that without evidence outcomes stay unknown, and what numbers are for", async () => {
    const text = await report(
      `${minimal}  times: { rosterPollMs: null }\ncommands: { evidenceMs: 0, settleMs: 0 }\n`,
    );
    expect(text).toContain("no evidence is sought, and the outcome stays unknown:\n");
    expect(text).toContain("never      a robot leaves the online list");
    expect(text).toContain("no robot numbers are known");
  });

  it("sorts operations as the design's table does", async () => {
    const text = await report(minimal);
    const [, repeated = "", sought = "", never = ""] =
      /sent again while it may be:\n(.*)\n {2}evidence is sought.*?:\n(.*)\n {2}the outcome stays unknown: nothing.*?:\n(.*)$/s.exec(
        text,
      ) ?? [];
    expect(repeated).toMatch(/COMMAND_CANCEL.*COMMAND_PAUSE.*ControlConveyor \(stop\).*PauseRobot/s);
    expect(repeated).not.toContain("CancelTaskChain");
    expect(sought).toMatch(/CreateMission,.*AddTaskChain,.*CancelTaskChain,.*CreateWebhook/s);
    expect(never).toMatch(/SkipGoal, ControlConveyor \(roll clockwise\).*ResumeRobot/s);
  });
});

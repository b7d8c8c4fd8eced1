import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkReport } from "../../src/cli/check-report.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { createCa } from "../../src/simulator/tls/identity.ts";
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

/** A configuration that gets missions and batteries by webhook. */
async function webhook(more = "", fleet = ""): Promise<string> {
  const { certificate, key } = await createCa(Date.now());
  await folder.write("hook.pem", certificate);
  await folder.write("hook.key", key);
  return `${minimal}${fleet}  events: { kind: webhook, listen: { port: 8443 }, publicUrl: "https://gateway.example.com/hook", certificate: hook.pem, key: hook.key }\n${more}`;
}

describe("what check says of a valid configuration", () => {
  it("computes the worst cases from its times", async () => {
    const text = await report(
      `${minimal}  times: { rosterPollMs: 500, pollTimeoutMs: 4000 }\nquality: { streamSilenceMs: 8000, resyncMs: 20000, holdMs: 60000 }\n`,
    );
    expect(text).toMatch(/^ {2}2\.5 s +a stream is cut and does not come back: stale/m);
    expect(text).toMatch(/^ {2}9 s +a connection falls silent/m);
    expect(text).toMatch(/^ {2}14 s +a message is lost.* the next snapshot/m);
    expect(text).toMatch(/^ {2}20\.5 s +a robot's snapshot is not renewed/m);
    expect(text).toMatch(/^ {2}0\.5 s +a robot leaves the online list: offline \(8 s if/m);
    expect(text).toMatch(/^ +\+ 4 s for each answer that does not come/m);
    expect(text).toMatch(/^ {2}8\.5 s +the online list is not answered/m);
    expect(text).toMatch(/^ {2}\+ 60\.5 s +what is stale or offline is lost/m);
  });

  it("says which box of which cluster it is", async () => {
    const text = await report(`${minimal}cluster:
  { name: hall-1, member: box-a, members: { box-a: {}, box-b: {} },
    etcd: { endpoints: ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"] }, leaseSeconds: 7 }
`);
    expect(text).toMatch(
      /^Cluster\n {2}box-a of hall-1, with box-b\n {2}etcd at 127\.0\.0\.1:1, .*, without TLS/m,
    );
    expect(text).toMatch(/^ {2}a leader that is silent for 7 s is replaced$/m);
    expect(await report(minimal)).not.toContain("Cluster");
  });

  it("says what is born where with Sparkplug, and what waits for what", async () => {
    const text =
      await report(`${minimal}mqtt: { broker: "mqtt://10.0.0.1", fallbackBrokers: ["mqtt://10.0.0.2"],
  sparkplug: { groupId: plant1, nodeId: edge, primaryHost: scada, json: false, commands: true } }
`);
    expect(text).toMatch(
      /^Sparkplug\n {2}edge node edge of group plant1, a device for each robot and station$/m,
    );
    expect(text).toMatch(
      /^ {2}at 10\.0\.0\.1 \(mqtt\.broker\), then 10\.0\.0\.2 .*, as client .*-sparkplug$/m,
    );
    expect(text).toMatch(/^ {2}instead of the JSON topics/m);
    expect(text).toMatch(/^ {2}births wait for the primary host scada$/m);
    expect(text).toMatch(/^ {2}commands come from sparkplug:plant1: every client that may write NCMD/m);
    const users = await report(
      `${minimal}mqtt: { broker: embedded, sparkplug: { groupId: g, commands: true } }\n`,
    );
    expect(users).toMatch(/^ {2}commands come from the users of the embedded broker$/m);
    expect(await report(minimal)).not.toContain("Sparkplug");
  });

  it("names Sparkplug among the ways for commands, and promises it no hold", async () => {
    const rights = 'rights: [{ source: { protocol: mqtt, name: "sparkplug:plant1" }, role: operator }]\n';
    const plant = (more: string) => `${minimal}mqtt: { broker: "mqtt://10.0.0.1",
  sparkplug: { groupId: plant1, ${more} } }\n`;
    const text = await report(`${plant("commands: true")}${rights}`);
    expect(text).toMatch(/^ {2}mqtt +off: nothing says that the broker enforces client names$/m);
    expect(text).toMatch(/^ {2}sparkplug +Commands\/Request of plant1\/.*; what moves needs an expiry$/m);
    const [, ofHosts = ""] = /mqtt sparkplug:plant1: operator(.*?)\n {2}\S/s.exec(text) ?? [];
    expect(ofHosts).toContain("CreateMission (moves)");
    expect(ofHosts).toContain("holds nothing: Sparkplug has no holds");
    expect(ofHosts).not.toContain("may hold");
    expect(await report(plant("commands: true"))).toMatch(/^ {2}sparkplug .*; no rule of rights names it/m);
    const off = await report(`${plant("json: false")}${rights}`);
    expect(off).toMatch(/^ {2}mqtt +off: mqtt\.sparkplug\.json is false$/m);
    expect(off).toMatch(/^ {2}sparkplug +off: mqtt\.sparkplug\.commands is false$/m);
    expect(await report(minimal)).not.toMatch(/^ {2}sparkplug/m);
  });

  it("says where the gateway listens, and who gets in", async () => {
    const local = await report(`${minimal}mqtt: { broker: embedded, anonymousLoopback: true }
opcua: { insecureLoopback: { role: observer } }
web: {}
`);
    expect(local).toMatch(/^ {2}opcua +127\.0\.0\.1:4840, this machine only: INSECURE: no encryption/m);
    expect(local).toMatch(/^ {2}mqtt +127\.0\.0\.1:1883, .*: not encrypted; INSECURE: no user/m);
    expect(local).toMatch(/^ {2}web +127\.0\.0\.1:8080, .*: not encrypted; no log-in$/m);
    const open = await report(await webhook("opcua: { listen: { host: '::' } }\n"));
    expect(open).toMatch(/^ {2}opcua +\[::\]:4840, every network of this machine: encrypted; approved/m);
    expect(open).toMatch(/^ {2}webhooks +127\.0\.0\.1:8443, .*: TLS; the fleet service, with its secret$/m);
  });

  it("says which source may send which commands", async () => {
    const text = await report(
      `${minimal}rights: [{ source: { protocol: cli, name: "*" }, role: operator, operations: [UpdateMission, GetMap] }]\n`,
    );
    expect(text).toContain(
      "cli anybody else: operator by rights[0], all robots\n      UpdateMission (stops, moves)\n      may hold: all robots, at once too\n",
    );
    expect(text).toMatch(
      /everybody reads, of all robots:\n +GetConveyorIndex \(reads\), .*GetMap \(reads\)\n/s,
    );
    expect(text).toMatch(/^ {2}cli +fleetgate call, through .*control\.sock$/m);
  });

  it("says for each user and client what it may do by its role and the rules", async () => {
    await folder.write("pw", "password");
    const users = ["free", "narrowed", "watcher"].map(
      (name) => `${name}: { password: pw, role: ${name === "watcher" ? "observer" : "operator"} }`,
    );
    const text = await report(`${minimal}opcua: { users: { ${users.join(", ")} } }
mqtt: { broker: embedded, users: { hmi: { password: pw }, wall: { password: pw } } }
rights:
  - { source: { protocol: opcua, name: narrowed }, role: engineer, robots: [cart-1], operations: [CreateMission, CreateWebhook] }
  - { source: { protocol: opcua, name: watcher }, role: operator }
  - { source: { protocol: mqtt, name: hmi }, role: operator, operations: [PauseRobot] }
`);
    const [, part = ""] = /\nWho may command what\n(.*?)\n {2}everybody reads/s.exec(text) ?? [];
    expect(part).toMatch(
      /^ {2}opcua free: operator by opcua\.users\.free\.role, all robots\n +CreateMission/m,
    );
    expect(part).toContain(
      "opcua narrowed: operator by opcua.users.narrowed.role, cart-1\n      CreateMission (moves)\n      may hold: cart-1\n",
    );
    expect(part).toContain("opcua watcher: only reads (observer by opcua.users.watcher.role)\n");
    expect(text).toMatch(/^ {2}opcua +slots of robots and stations, and methods$/m);
    expect(part).toContain("mqtt hmi: operator by rights[2], all robots\n      PauseRobot (stops)\n");
    expect(part).toContain("mqtt wall: only reads (no rule names it)\n");
    expect(part).toMatch(/cli anybody else: only reads \(no rule names it\)$/);
    expect(part).not.toMatch(/CreateWebhook|mqtt anybody else|GetMap/);
  });

  it("says which protocols take no commands, and why", async () => {
    const text = await report(`${minimal}mqtt: { broker: "mqtt://b" }\ncontrol: { enabled: false }\n`);
    expect(text).toMatch(/^ {2}mqtt +off: nothing says that the broker enforces client names$/m);
    expect(text).toMatch(/^ {2}opcua +off$/m);
    expect(text).toMatch(/^ {2}cli +off$/m);
  });

  it("computes the worst cases of webhooks, beside suspended streams", async () => {
    const text = await report(await webhook("quality: { streamSilenceMs: 8000, resyncMs: 20000 }\n"));
    expect(text).toContain("missions and batteries by webhook, at https://gateway.example.com/hook");
    expect(text).toMatch(
      /^ {2}9 s +the service or the way to it is gone: missions and batteries are stale$/m,
    );
    expect(text).toMatch(/^ {2}14 s +the same: everything is offline$/m);
    expect(text).toMatch(/^ {2}2\.5 s +conveyors, .* \(9 s: falls silent\): stale$/m);
    expect(text).toMatch(/^ {2}14 s +a delivery is lost, which nothing shows/m);
    expect(text).toMatch(/^ {2}23 s +deliveries do not arrive any more: streams stand in$/m);
    expect(text).not.toContain("a stream is cut and does not come back");
    expect(text).not.toContain("gRPC alone");
    const overRest = await webhook("quality: { resyncMs: 20000 }\n", "  transport: rest\n");
    expect(await report(overRest)).toMatch(
      /^ {2}19 s +gRPC alone is gone: missions and batteries, .* stale$/m,
    );
  });

  it("does not mention missing streams if there are streams", async () => {
    const text = await report(minimal);
    expect(text).not.toContain("\nNote");
    expect(text).not.toMatch(/seen by webhook|travel over REST/);
  });

  it("says which outcomes stay unknown if webhooks bring missions", async () => {
    const text = await report(await webhook());
    const [, missions = ""] =
      /missions are seen by webhook.*? up to 42 s,\n.*unknown:\n(.*)$/s.exec(text) ?? [];
    expect(missions).toMatch(/CreateMission,.*ChargeRobot, UpdateMission$/s);
    expect(missions).not.toMatch(/ControlConveyor|TaskChain|CreateWebhook|SkipGoal/);
    const soon = await report(await webhook("quality: { resyncMs: 20000 }\n"));
    expect(soon).not.toContain("missions are seen by webhook");
  });

  it("says which outcomes stay unknown, and what is refused, with REST and no streams", async () => {
    const text = await report(`${minimal}  transport: rest\n`);
    const [, shown = ""] =
      /where gRPC is not served there.*what moves them is refused.*unknown:\n(.*)$/s.exec(text) ?? [];
    expect(shown).toMatch(/CreateMission,.*ChargeRobot.*ControlConveyor \(stop/s);
    expect(shown).not.toMatch(/TaskChain|CreateWebhook/);
    const delivered = await report(await webhook("", "  transport: rest\n"));
    const [, rest = ""] = /where gRPC is not served there.*unknown:\n(.*)$/s.exec(delivered) ?? [];
    expect(rest.trim()).toMatch(/^ControlConveyor \(stop[^)]*\)$/);
  });

  it("says that without evidence outcomes stay unknown, and why robot numbers are needed", async () => {
    const text = await report(
      `${minimal}  times: { rosterPollMs: null }\ncommands: { evidenceMs: 0, settleMs: 0 }\n`,
    );
    expect(text).toContain("no evidence is sought, and the outcome stays unknown:\n");
    expect(text).toContain("never      a robot leaves the online list");
    expect(text).toContain("no robot numbers are known");
  });

  it("sorts operations by what follows an unknown ending", async () => {
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

import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { askGateway } from "../../src/cli/control-client.ts";
import { type Entry, readRecording } from "../../src/platform/recorder/recording.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";

let harness: E2eHarness;
beforeEach(async () => {
  harness = await openE2eHarness({ lively: "none", unsafeWebhookTargets: {} });
});
afterEach(() => harness.close());

async function save(): Promise<string> {
  const request = { method: "POST", path: "/api/v1/recordings", body: {} } as const;
  const { status, body } = await askGateway(harness.socketPath, request, new AbortController().signal);
  expect(status).toBe(201);
  return String(body.path);
}

const entries = async () => (await readRecording(await save())).entries;
const texts = (found: readonly Entry[], kind: Entry["kind"]) =>
  found.filter((entry) => entry.kind === kind).map(({ name, second }) => `${name} ${second}`);

/** The lines that a northbound was told: where it has none, those of the entry before with the same id. */
function toldTo(northbound: string, found: readonly Entry[]): string {
  const byId = new Map<number, string>();
  const lines: string[] = [];
  for (const { kind, name, id, second } of found) {
    if (kind !== "told") continue;
    if (second.length > 0) byId.set(id, second.toString());
    if (name === northbound) lines.push(byId.get(id) ?? "missing");
  }
  return lines.join("");
}

it("records what the service said, what it was asked, and what each protocol was told", async () => {
  const { mqtt } = harness;
  await mqtt.on("robots/cart-01/mission");
  await mqtt.on("robots/cart-01/presence");
  const reply = await mqtt.send("ControlConveyor", "1", { robotId: "base-01", commands: [] });
  expect(reply.outcome).toBe("refused");
  const goal = { baseMission: { navigateMission: { goal: { destinationId: "Station A" } } } };
  const sent = await mqtt.send("CreateMission", "2", { robotId: "cart-01", mission: goal });
  await mqtt.on("robots/cart-01/event/mission");
  const found = await entries();
  expect(texts(found, "message").some((text) => text.startsWith("SubscribeMissionStatus"))).toBe(true);
  expect(texts(found, "read")[0]).toMatch(/^GetOnlineRobots \{"robots":\[/);
  const call = found.find(({ kind, name }) => kind === "call" && name === "CreateMission");
  expect(String(call?.first)).toContain("Station A");
  const answer = found.find(({ kind, id }) => kind === "answer" && id === call?.id);
  expect(answer).toMatchObject({ code: 0, name: "CreateMission" });
  expect(JSON.parse(String(answer?.second))).toEqual(sent.response);
  for (const name of ["mqtt", "opcua"]) {
    const told = toldTo(name, found);
    expect(told).toMatch(/^mission\/cart-01 good \d+ \d+ \d+$/m);
    expect(told).not.toContain("missing");
    expect(told).toMatch(/^event \{"kind":"mission",.*"robotId":"cart-01"/m);
  }
});

it("records no secret: no token, no key, no header and no URL of a webhook", async () => {
  const { mqtt } = harness;
  const secrets = ["planted-header-secret", "planted-url-password", "planted-query-token"];
  const [header, password, query] = secrets;
  const webhook = (url: string) => ({
    url,
    options: { headers: { authorization: header } },
    eventType: "mission",
    selector: { robotIds: { ids: ["cart-01"] } },
  });
  const made = await mqtt.send("CreateWebhook", "1", webhook(`https://127.0.0.1:9/hook?key=${query}`));
  expect(made.outcome, made.message).toBe("succeeded");
  const refused = await mqtt.send("CreateWebhook", "3", webhook(`https://user:${password}@127.0.0.1:9/hook`));
  expect(refused.outcome).toBe("refused");
  await mqtt.send("ListWebhooks", "2", {});
  const path = await save();
  const found = (await readRecording(path)).entries.filter(({ name }) => name.includes("Webhook"));
  expect(found.map(({ kind, name }) => `${kind} ${name}`)).toContain("call ListWebhooks");
  for (const { first, second } of found) expect(first.length + second.length).toBe(0);
  const { credentials } = harness.simulator().endpoints;
  const { secret } = JSON.parse(await readFile(credentials, "utf8"));
  const text = (await readFile(path)).toString("latin1");
  for (const each of [...secrets, secret]) expect(text).not.toContain(each);
  expect(text).not.toMatch(/eyJ[\w-]+\.|[Bb]earer/);
});

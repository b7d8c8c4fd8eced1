import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { checkShape } from "../../../src/simulator/webhooks/subscription.ts";
import { checkReachable, isPublic, readUrl } from "../../../src/simulator/webhooks/target.ts";
import { CreateWebhookRequestSchema } from "../../../src/wire/fleet/v1/service_pb.js";

type Init = MessageInitShape<typeof CreateWebhookRequestSchema>;

const valid: Init = {
  url: "https://hooks.example/robots",
  eventType: "mission",
  selector: { selector: { case: "robotIds", value: { ids: ["r1"] } } },
};
const check = (change: Init) => () =>
  checkShape(create(CreateWebhookRequestSchema, Object.assign({}, valid, change)));
const refusal = (message: RegExp) =>
  expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringMatching(message) });

test("a request that follows the rules passes", () => {
  expect(check({})).not.toThrow();
});

test.each([
  ["", /required/],
  ["http://hooks.example/", /https/],
  ["hooks.example", /no URL/],
  ["https://", /no URL/],
  ["https://user:word@hooks.example/", /user name/],
  ["https://hooks.example:0/", /port 0/],
  [`https://hooks.example/${"x".repeat(3_000)}`, /longer/],
])("url %j is refused", (url, message) => {
  expect(check({ url })).toThrow(refusal(message));
});

test.each(["", "conveyor", "Mission", "constructor"])("event_type %j is refused", (eventType) => {
  expect(check({ eventType })).toThrow(refusal(/event_type/));
});

test("a selector that is not set is refused", () => {
  expect(check({ selector: {} })).toThrow(refusal(/selector/));
});

const filter = (field: string, values: string[], operator = 1) => ({ filter: { field, values, operator } });

test.each([
  ["state.current_mission.state", ["STATE_RUNNING", "STATE_PAUSED"]],
  ["state.missions.0.mission_id", ["anything"]],
  ["state.current_mission_index", ["-1", "0"]],
  ["state.metadata.sequence_number", ["9223372036854775807"]],
  ["state.metadata.timestamp", ["2026-11-20T21:47:49Z"]],
  ["state.current_goal.pose.x_meters", ["1.5", "-2e3"]],
  ["state.current_mission.mission_type.cart_type", ["CART_TYPE_TRAVERSE"]],
  ["state.missions.3.goals.0.destination_id", ["Station A"]],
])("a filter on %s with %j passes", (field, values) => {
  expect(check(filter(field, values))).not.toThrow();
});

test.each([
  ["robot_id", ["r1"], /selector/],
  ["state", ["x"], /start with/],
  ["mission.state", ["x"], /start with/],
  ["state.missing", ["x"], /no field/],
  ["state.currentMission.state", ["STATE_RUNNING"], /no field/],
  ["state.current_mission", ["x"], /whole message/],
  ["state.missions", ["x"], /list/],
  ["state.missions.0", ["x"], /whole message/],
  ["state.missions.-1.mission_id", ["x"], /list/],
  ["state.missions.01.mission_id", ["x"], /list/],
  ["state.metadata.timestamp.seconds", ["1"], /no field/],
  ["state.current_mission.state.name", ["x"], /no field/],
  ["state..state", ["x"], /no field/],
  ["state.current_mission.state", [], /at least one/],
  ["state.current_mission.state", ["RUNNING"], /no name/],
  ["state.current_mission.state", ["2"], /no name/],
  ["state.current_mission_index", ["one"], /integer/],
  ["state.current_mission_index", ["1.5"], /integer/],
  ["state.current_mission_index", ["2147483648"], /range/],
  ["state.metadata.sequence_number", ["9223372036854775808"], /range/],
  ["state.metadata.timestamp", ["yesterday"], /time/],
  ["state.current_goal.pose.x_meters", ["near"], /number/],
  ["state.current_goal.pose.x_meters", [""], /number/],
])("a filter on %s with %j is refused", (field, values, message) => {
  expect(check(filter(field, values))).toThrow(refusal(message));
});

test.each([0, 2])("operator %i is refused", (operator) => {
  expect(check(filter("state.current_mission.state", ["STATE_RUNNING"], operator))).toThrow(
    refusal(/operator/),
  );
});

const template = (requestTemplate: JsonObject) => ({ options: { requestTemplate } });

test("a template may hold the robot, scalars, list elements, and anything that is no placeholder", () => {
  const given = {
    a: "{{robot_id}}: {{state.missions.0.state}}",
    b: [1, null, true, { c: "}} { {" }],
    "d: {{state.metadata.sequence_number}}": "",
  };
  expect(check(template(given))).not.toThrow();
});

test.each([
  [{ a: "{{state.current_mission}}" }, /whole message/],
  [{ a: "{{state.missions}}" }, /list/],
  [{ a: { b: ["{{state.nothing}}"] } }, /no field/],
  [{ a: "{{robot}}" }, /start with/],
  [{ a: [{ "{{d}}": "" }] }, /start with/],
  [{ a: "{{}}" }, /start with/],
  [{ a: "{{robot_id" }, /not closed/],
  [{ a: "x".repeat(70_000) }, /at most/],
])("the template %j is refused", (requestTemplate, message) => {
  expect(check(template(requestTemplate))).toThrow(refusal(message));
});

const headers = (given: Record<string, string>) => ({ options: { headers: given } });
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, "v"]));

test("20 headers pass, static values with braces too", () => {
  expect(check(headers({ ...many(19), Authorization: "Bearer {{robot_id}}" }))).not.toThrow();
});

test.each([
  ["21 headers", many(21), /at most 20/],
  ["more than 8 kB", { X: "v".repeat(8_192) }, /at most 8192/],
  ["a space in a name", { "X Y": "v" }, /no header name/],
  ["an empty name", { "": "v" }, /no header name/],
  ["a line break in a value", { X: "v\r\nY: w" }, /value/],
  ["the length of the body", { "Content-Length": "5" }, /not for clients/],
  ["a name twice", { "X-A": "v", "x-a": "w" }, /twice/],
])("%s is refused", (_, given, message) => {
  expect(check(headers(given))).toThrow(refusal(message));
});

test.each([
  ["127.0.0.1", false],
  ["10.1.2.3", false],
  ["172.16.0.1", false],
  ["192.168.1.1", false],
  ["169.254.169.254", false],
  ["100.64.0.1", false],
  ["0.0.0.0", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["192.0.2.1", false],
  ["::1", false],
  ["::", false],
  ["fe80::1", false],
  ["fc00::1", false],
  ["ff02::1", false],
  ["::ffff:127.0.0.1", false],
  ["::ffff:10.0.0.1", false],
  ["64:ff9b::7f00:1", false],
  ["2002:7f00:1::", false],
  ["2001:db8::1", false],
  ["93.184.216.34", true],
  ["::ffff:93.184.216.34", true],
  ["2606:2800:220:1:248:1893:25c8:1946", true],
  ["nonsense", false],
])("the address %s is public: %s", (address, expected) => {
  expect(isPublic(address)).toBe(expected);
});

test.each([
  "https://127.0.0.1/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::1]/",
])("the literal in %s is refused without asking DNS", async (url) => {
  const resolve = () => Promise.reject(new Error("asked"));
  await expect(checkReachable(readUrl(url), resolve)).rejects.toEqual(refusal(/no public address/));
});

test("a name passes when all of its addresses are public, and is refused when one is not, or none", async () => {
  const url = readUrl("https://hooks.example/");
  await expect(checkReachable(url, async () => ["93.184.216.34"])).resolves.toBeUndefined();
  const refused = [
    async () => ["93.184.216.34", "10.0.0.1"],
    async () => [],
    () => Promise.reject(new Error("no")),
  ];
  for (const resolve of refused)
    await expect(checkReachable(url, resolve)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

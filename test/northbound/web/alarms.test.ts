import { afterEach, beforeEach, expect, it } from "vitest";
import { standingAlarm } from "../../support/test-alarms.ts";
import { type ControlHarness, createControlHarness, wellFacts } from "./control-harness.ts";

let harness: ControlHarness;
beforeEach(async () => {
  harness = await createControlHarness();
  harness.facts.now = {
    ...wellFacts,
    alarms: [standingAlarm("BATTERY_LOW", "r1"), standingAlarm("DISK_FULL", "")],
  };
});
afterEach(() => harness[Symbol.asyncDispose]());

const ack = (id: string, user = "bob") =>
  harness.ask("PUT", `/api/v1/alarms/${encodeURIComponent(id)}/acknowledgement`, undefined, {
    "fleetgate-user": user,
  });

it("lists the alarms that stand, the most urgent first, as MQTT does", async () => {
  expect(await harness.ask("GET", "/api/v1/alarms")).toMatchObject({
    status: 200,
    body: {
      count: 2,
      alarms: [
        { id: "DISK_FULL-1", source: "gateway", priority: "high", acknowledged_by: null },
        { id: "BATTERY_LOW-1", source: "robot", robot_id: "r1", priority: "low" },
      ],
    },
  });
});

it("acknowledges an alarm in the name of the user, and says whose acknowledgement counts", async () => {
  const bob = { status: 200, body: { id: "DISK_FULL-1", acknowledged_by: "cli:bob", message: "" } };
  expect(await ack("DISK_FULL-1")).toMatchObject(bob);
  expect(await ack("DISK_FULL-1", "eve")).toMatchObject(bob);
  expect(await harness.ask("GET", "/api/v1/alarms")).toMatchObject({
    body: { alarms: [{ acknowledged_by: "cli:bob" }, { acknowledged_by: null }] },
  });
});

it("takes a comment with an acknowledgement, or alone, and shows whose it is", async () => {
  const at = (what: string) => `/api/v1/alarms/DISK_FULL-1/${what}`;
  const bob = { "fleetgate-user": "bob" };
  const say = (what: string, body: object) => harness.ask("PUT", at(what), JSON.stringify(body), bob);
  expect(await say("acknowledgement", { comment: "seen" })).toMatchObject({ status: 200 });
  expect(await say("comment", { comment: "mended" })).toMatchObject({
    status: 200,
    body: { id: "DISK_FULL-1", commented_by: "cli:bob", message: "" },
  });
  expect(await harness.ask("GET", "/api/v1/alarms")).toMatchObject({
    body: {
      alarms: [
        { comment: "mended", commented_by: "cli:bob" },
        { comment: null, commented_by: null },
      ],
    },
  });
  const detail = "comment: must be text of 1 to 256 printable characters";
  expect(await say("comment", { comment: "" })).toMatchObject({ status: 400, body: { detail } });
  expect(await say("comment", { comment: "x".repeat(257) })).toMatchObject({ status: 400, body: { detail } });
  expect(await say("acknowledgement", { comment: 7 })).toMatchObject({ status: 400, body: { detail } });
  expect(await say("comment", {})).toMatchObject({ status: 400, body: { detail: "comment: is missing" } });
  expect(await harness.ask("PUT", "/api/v1/alarms/NONE-1/comment", '{"comment":"x"}', bob)).toMatchObject({
    status: 404,
  });
});

it("says of an acknowledgement that it is not on the disk yet", async () => {
  harness.storeProblem.now = "not on the disk";
  expect(await ack("DISK_FULL-1")).toMatchObject({
    status: 200,
    body: { acknowledged_by: "cli:bob", message: "not on the disk" },
  });
});

it("refuses an unknown alarm, a user without the right and a wrong user, and audits it", async () => {
  expect(await ack("NONE-1")).toMatchObject({
    status: 404,
    body: { code: "MALFORMED", detail: 'alarm_id: there is no alarm with the id "NONE-1"' },
  });
  expect(await ack("BATTERY_LOW-1", "ann")).toMatchObject({ status: 403, body: { code: "NOT_ALLOWED" } });
  expect(await ack("DISK_FULL-1", "%")).toMatchObject({ status: 400, body: { code: "MALFORMED" } });
  expect(harness.told).toMatchObject([
    { operation: "AcknowledgeAlarm", robotId: null, source: { name: "bob" } },
    { operation: "AcknowledgeAlarm", robotId: "r1", source: { name: "ann" } },
    { operation: "AcknowledgeAlarm", robotId: null },
  ]);
});

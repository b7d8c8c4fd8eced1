import { afterEach, beforeEach, expect, it } from "vitest";
import { type ControlHarness, createControlHarness } from "./control-harness.ts";

let harness: ControlHarness;
beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

const post = (user: string) =>
  harness.ask("POST", "/api/v1/recordings", {}, { "fleetgate-user": encodeURIComponent(user) });

it("saves a recording in the name of its user", async () => {
  expect(await post("bob")).toMatchObject({
    status: 201,
    body: { path: "/data/records/saved/user-1.fgrec", bytes: 12, from: "1970-01-01T00:00:00.000Z" },
  });
  expect(harness.logged).toEqual(["asked by cli:bob"]);
});

it("refuses a name that is none", async () => {
  expect(await post("a/b")).toMatchObject({ status: 400 });
  expect(harness.logged).toEqual([]);
});

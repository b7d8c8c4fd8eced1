import { afterEach, beforeEach, expect, it } from "vitest";
import { type ControlHarness, createControlHarness } from "./control-harness.ts";

let harness: ControlHarness;

beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

it("answers with what became of a reload, which was asked for in the user's name", async () => {
  const ask = (user: string) => harness.ask("POST", "/api/v1/reload", undefined, { "fleetgate-user": user });
  expect(await ask("eva")).toMatchObject({ status: 200, body: { applied: ["cli:eva"], refused: [] } });
  expect(await ask("a%2Fb")).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining("fleetgate-user") },
  });
  expect(await harness.ask("GET", "/api/v1/reload")).toMatchObject({ status: 405 });
});

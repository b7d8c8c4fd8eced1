import { afterEach, beforeEach, expect, it } from "vitest";
import { type ControlHarness, createControlHarness } from "./control-harness.ts";

let harness: ControlHarness;
beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

const put = (body: unknown) => harness.ask("PUT", "/api/v1/log-level", body, { "fleetgate-user": "bob" });

it("shows the levels, and sets that of a component or of all", async () => {
  expect(await harness.ask("GET", "/api/v1/log-level")).toMatchObject({
    status: 200,
    body: { levels: { gateway: "info", fleet: "info" } },
  });
  expect(await put({ component: "fleet", level: "debug" })).toMatchObject({
    status: 200,
    body: { levels: { gateway: "info", fleet: "debug" } },
  });
  for (const body of [{ level: "error" }, { component: "*", level: "error" }])
    expect(await put(body)).toMatchObject({ body: { levels: { gateway: "error", fleet: "error" } } });
  expect(harness.logged).toHaveLength(3);
  expect(harness.logged[0]).toContain('"by":"cli:bob"');
});

it.each<[unknown, number, string]>([
  [{ component: "flet", level: "debug" }, 404, 'component: "flet" is not one of gateway, fleet'],
  [{ component: "fleet", level: "trace" }, 400, "level: must be one of debug, info, warn, error, silent"],
  [{ component: "fleet" }, 400, "level: must be one of debug, info, warn, error, silent"],
  [{ component: null, level: "info" }, 400, "component: must be text; * stands for all"],
  [{ components: "fleet", level: "info" }, 400, '"components": is not one of component, level'],
  [[], 400, "the body must be a JSON object with component, level"],
])("refuses %j", async (body, status, detail) => {
  expect(await put(body)).toMatchObject({ status, body: { detail } });
  expect(harness.logged).toEqual([]);
});

import { expect, it } from "vitest";
import { createLog } from "../../src/platform/log.ts";

it("changes the level of a component, or of all, for loggers that are there and that come", () => {
  const lines: string[] = [];
  const said = () => lines.splice(0).map((line) => (JSON.parse(line) as { msg: string }).msg);
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const [fleet, mqtt] = [log.child({ part: "fleet" }), log.child({ part: "mqtt" })];
  const session = fleet.child({ session: 1 });
  fleet.debug({}, "unheard");
  expect(log.levels.list()).toEqual({ gateway: "info", fleet: "info", mqtt: "info" });
  expect(log.levels.set("fleet", "debug", "cli:bob")).toBe(true);
  fleet.debug({}, "of fleet");
  fleet.child({ session: 2 }).debug({}, "of a session");
  log.child({ part: "fleet" }).debug({}, "of another logger");
  mqtt.debug({}, "unheard");
  log.debug({}, "unheard");
  session.info({}, "of an older session");
  expect(said()).toEqual([
    "log level changed",
    "of fleet",
    "of a session",
    "of another logger",
    "of an older session",
  ]);
  expect(log.levels.set(null, "silent", "cli:bob")).toBe(true);
  log.error({}, "unheard");
  mqtt.error({}, "unheard");
  expect(said()).toEqual(["log level changed"]);
  expect(log.levels.list()).toEqual({ gateway: "silent", fleet: "silent", mqtt: "silent" });
  expect(log.levels.set("flet", "debug", "cli:bob")).toBe(false);
  expect(said()).toEqual([]);
});

it("says who changed which level, and what it was, also in a log that is silent", () => {
  const lines: string[] = [];
  const log = createLog("silent", { write: (line) => void lines.push(line) });
  log.levels.set("gateway", "warn", "cli:bob");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { component: "gateway", from: { gateway: "silent" }, to: "warn", by: "cli:bob", level: 30 },
  ]);
});

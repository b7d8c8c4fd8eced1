import { expect, it } from "vitest";
import { figuresText, leftWord, peersByNeed } from "../../../src/console/fleet/plant-words.ts";
import type { Connection, Expiry } from "../../../src/northbound/web/api/gateway.ts";

const end: Expiry = { kind: "certificate", name: "opcua", path: "/a.pem", ends_at: null, seconds_left: null };
const DAY_S = 86_400;

it.each<[Partial<Expiry>, string, string]>([
  [{ seconds_left: 90 * DAY_S }, "90 days", "normal"],
  [{ seconds_left: 29 * DAY_S }, "29 days", "abnormal"],
  [{ seconds_left: 0 }, "expired", "alarm"],
  [{}, "cannot be read", "abnormal"],
  // The gateway renews it by itself.
  [{ kind: "token", seconds_left: 600 }, "10 min", "normal"],
])("what expires as %j says it", (changes, word, emphasis) => {
  expect(leftWord({ ...end, ...changes })).toEqual({ word, emphasis });
});

it("a queue tells what is not 0", () => {
  expect(figuresText({ events_waiting: 0, events_dropped: 2, changes_waiting: 1 })).toBe(
    "events dropped 2, changes waiting 1",
  );
  expect(figuresText({ events_waiting: 0 })).toBe("nothing waits");
});

it("who waits for an approval stands before those who are connected", () => {
  const of = (name: string, state: "connected" | "waiting" | "lost"): Connection["peers"][number] => ({
    ...{ kind: "session", name, state, client: "", address: "", since: null, detail: "" },
  });
  const connections = [
    { name: "mqtt", peers: [of("scada", "connected"), of("plc", "lost")] },
    { name: "opcua", peers: [of("ignition", "connected"), of("historian", "waiting")] },
  ];
  const listed = peersByNeed(connections).map(({ part, peer }) => `${part} ${peer.name}`);
  expect(listed).toEqual(["mqtt plc", "opcua historian", "mqtt scada", "opcua ignition"]);
});

import { expect, test } from "vitest";
import { envelope } from "../../../src/northbound/mqtt/values.ts";
import { stamp } from "./mqtt-harness.ts";

test("a lost value is not shown any more", () => {
  expect(envelope("r", "stale", stamp.receivedAtMs, "s", '{"a":1}')).toBe(
    '{"robot_id":"r","quality":"stale","received_at":"2026-01-02T03:04:05.078Z","session_id":"s","state":{"a":1}}',
  );
  expect(JSON.parse(envelope("r", "lost", stamp.receivedAtMs, "s", '{"a":1}'))).toMatchObject({
    quality: "lost",
    state: null,
  });
});

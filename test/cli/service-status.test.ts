import { describe, expect, it } from "vitest";
import { statusText } from "../../src/cli/service-notices.ts";
import type { Health } from "../../src/platform/component.ts";

const state: Health = { state: "up", figures: { robots: 3, robotsGood: 2 } };

describe("the status that systemd shows", () => {
  it("is about the stores until anything else is known", () => {
    expect(statusText({})).toBe("Opening the stores");
  });

  it("has the robots and the links, and nothing else that is well", () => {
    const health: Record<string, Health> = {
      fleet: { state: "up", detail: "9 of 9 streams are open" },
      mqtt: { state: "up" },
      web: { state: "up", detail: "http://127.0.0.1:8080" },
      state,
    };
    expect(statusText(health)).toBe("2 of 3 robots good; fleet up; mqtt up");
  });

  it("says what is wrong", () => {
    const health: Record<string, Health> = {
      fleet: { state: "up" },
      mqtt: { state: "down", detail: "not connected for 12 s: ECONNREFUSED" },
      commands: { state: "degraded", detail: "the disk is full" },
      state,
    };
    expect(statusText(health)).toBe(
      "2 of 3 robots good; fleet up; mqtt down (not connected for 12 s: ECONNREFUSED); commands degraded (the disk is full)",
    );
  });

  it("is one line of bounded length, whatever a service or a broker has said", () => {
    const detail = "a\nREADY=1\r\u0000\u001b[2J\u2028\u202e\ud800 b".repeat(100);
    const names = ["fleet", "mqtt", "opcua", "commands", "audit"];
    const health = Object.fromEntries(names.map((name) => [name, { state: "down", detail } as const]));
    const text = statusText({ ...health, state });
    expect(text).toMatch(/^2 of 3 robots good; fleet down \(a READY=1 \[2J b/);
    expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    expect(text.length).toBeLessThanOrEqual(401);
  });
});

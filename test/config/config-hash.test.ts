import { expect, it } from "vitest";
import { configHash } from "../../src/config/running-config.ts";

const config = { gateway: { id: "a" }, robots: new Map([[1, "x"]]), users: [{ name: "u", secret: "one" }] };

it("changes with what is configured, and not with a secret", () => {
  const hash = configHash(config);
  expect(hash).toMatch(/^[0-9a-f]{16}$/);
  expect(configHash({ ...config, robots: new Map([[1, "y"]]) })).not.toBe(hash);
  expect(configHash({ ...config, users: [{ name: "u", secret: "two" }] })).toBe(hash);
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("the unit, the image and the bin script start node with the same options", () => {
  const unit = /^ExecStart=\S*\/node (.*) \/opt\/fleetgate\/dist\/main\.js /m.exec(
    read("systemd/fleetgate.service"),
  )?.[1];
  const script = /^#!\/usr\/bin\/env -S node (.*)$/m.exec(read("src/main.ts"))?.[1];
  const entry: unknown = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "null");
  expect(unit?.split(" ")).toEqual(["--no-memory-reducer", "--max-semi-space-size=128"]);
  expect(script).toBe(unit);
  expect(entry).toEqual(["node", ...(unit ?? "").split(" "), "/opt/fleetgate/dist/main.js"]);
});

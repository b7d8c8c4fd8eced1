import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { belt, openDegradedHarness, toStation } from "./degraded-harness.ts";

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A syslog server; `port` 0 for any. */
async function listen(port: number) {
  let heard = "";
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      heard += bytes.toString();
    });
    cleanups.push(async () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, heard: () => heard, server };
}

test("while syslog is away commands go on, and health says so; then it has every line", async () => {
  const { port, server } = await listen(0);
  server.close();
  const sections = { commands: { audit: { syslog: `tcp://127.0.0.1:${port}` } } };
  const harness = await openDegradedHarness(undefined, sections);
  cleanups.push(() => harness.close());
  const daemon = await harness.start();
  const { detail } = await harness.part("syslog", ({ state }) => state === "degraded");
  expect(detail).toContain(`not copied to tcp://127.0.0.1:${port}: commands.audit.syslog `);
  const requests = [
    ["CreateMission", "m1", toStation("Station D")],
    ["ControlConveyor", "c1", belt("STOP")],
  ] as const;
  for (const [operation, id, request] of requests) await harness.ear.send(operation, id, request);
  const back = await listen(port);
  cleanups.push(async () => back.server.close());
  await harness.part("syslog", ({ state, figures }) => state === "up" && figures?.sent === 2);
  await expect
    .poll(back.heard, { timeout: 10_000 })
    .toMatch(/ command \[meta sequenceId="1"\].* request_id="m1".* command \[meta sequenceId="2"\].*"c1"/);
  expect(daemon.said()).toContain("the audit log is not copied to syslog");
  expect(await daemon.stop()).toBe(0);
}, 120_000);

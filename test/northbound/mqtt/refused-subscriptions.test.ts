import { expect, it } from "vitest";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newLink } from "./link-harness.ts";
import { base } from "./mqtt-harness.ts";
import { createScriptedBroker } from "./scripted-broker.ts";

const commands = `${base}/clients/+/command/+`;

function connect(isRefused: (filter: string) => boolean) {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_fields: unknown, text: string) => void warnings.push(text) };
  const broker = createScriptedBroker(isRefused);
  const link = newLink({ openBroker: broker.open, clock: createManualClock(), log: log as typeof silentLog });
  return { warnings, connection: link.connect(new AbortController().signal) };
}

it("a broker that grants the commands alone is served, and what is missing is told", async () => {
  const { warnings, connection } = connect((filter) => filter !== commands);
  await using _open = await connection;
  expect(warnings).toEqual([
    "the broker does not let this gateway read its own status: a duplicate gateway goes unnoticed",
    "the broker does not let this gateway read its own task chains: those of earlier runs stay there",
  ]);
});

it("a broker that refuses the commands is named with the filter", async () => {
  const { connection } = connect((filter) => filter === commands);
  await expect(connection).rejects.toThrow(`the broker refused the subscription ${commands}`);
});

it("a broker that acknowledges nothing is left while it is being connected to", async () => {
  const clock = createManualClock();
  const broker = createScriptedBroker(() => false, false);
  const link = newLink({ openBroker: broker.open, clock });
  const failure = expect(link.connect(new AbortController().signal)).rejects.toThrow(
    "the MQTT broker took the connection, and did not acknowledge within 30 s what the gateway sent",
  );
  await expect.poll(() => broker.received.some(({ cmd }) => cmd === "publish")).toBe(true);
  await clock.settle(30_000);
  await failure;
});

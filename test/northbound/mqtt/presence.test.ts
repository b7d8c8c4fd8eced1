import { expect, test } from "vitest";
import { createFanOut } from "../../../src/delivery/fan-out.ts";
import { createLinkRunner } from "../../../src/delivery/link-runner.ts";
import { createRoster } from "../../../src/fleet/polling/roster.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { newFleetState } from "../../support/fleet-state.ts";
import { anyIdentifiers } from "../../support/identifiers.ts";
import { newBroker, newLink } from "./link-harness.ts";
import { base, listen, start } from "./mqtt-harness.ts";

const robot = (id: number, pos: string) => ({ id: String(id), name: `r${id}`, pos, taskChainId: 0 });

/** The whole way of the online list, from the service's answers to a foreign client. */
test("a robot that the online list shows as before is not published again", async () => {
  const clock = systemClock;
  const log = silentLog;
  const broker = newBroker();
  const stopBroker = await start(broker);
  const client = await listen(`mqtt://127.0.0.1:${broker.port()}`, {}, `${base}/robots/+/presence`);
  const state = newFleetState(clock, {
    times: { holdMs: 60_000, resyncMs: 60_000, streamSilenceMs: 60_000 },
  });
  const fanOut = createFanOut({ state, clock, log });
  const link = newLink({ openBroker: broker.open });
  const limits = { changes: 1_000, events: 1_000, perTurn: 100 };
  const stopLink = await start(
    createLinkRunner(link, {
      outlet: fanOut.attachOutlet("mqtt", limits),
      backoff: { baseMs: 10, capMs: 10 },
      writeTimeoutMs: 10_000,
      drainMs: 100,
      clock,
      random: () => 0.5,
      log,
    }),
  );
  let answer: readonly object[] = [];
  const roster = createRoster({
    identifiers: anyIdentifiers(),
    read: async () => Buffer.from(JSON.stringify({ robots: answer })),
    clock,
    log,
    sink: (event) => fanOut.offer(state.apply(event)),
    knows: () => true,
    amrIds: new Map(),
  });
  /** The position that was published of a robot, and each time that something was. */
  const shown = (name: string) =>
    client.received
      .filter(({ topic }) => topic === `${base}/robots/${name}/presence`)
      .map(({ text }) => JSON.parse(text).state.pos);
  const see = async (name: string, pos: string, ...robots: readonly object[]) => {
    answer = robots;
    await roster.turn();
    await client.on(`robots/${name}/presence`, ({ text }) => JSON.parse(text).state.pos === pos);
  };

  await see("r2", "A", robot(1, "A"), robot(2, "A"));
  await see("r2", "B", robot(1, "A"), robot(2, "B"));
  await see("r2", "C", robot(2, "C"), robot(1, "A"));
  expect(shown("r1")).toEqual(["A"]);
  expect(shown("r2")).toEqual(["A", "B", "C"]);
  await see("r1", "B", robot(1, "B"), robot(2, "C"));
  await see("r1", "C", robot(1, "C"), robot(2, "C"));
  expect(shown("r2")).toEqual(["A", "B", "C"]);
  expect(shown("r1")).toEqual(["A", "B", "C"]);

  await stopLink();
  await client.client.endAsync(true);
  await stopBroker();
});

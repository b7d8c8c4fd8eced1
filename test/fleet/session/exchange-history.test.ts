import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createExchangeHistory } from "../../../src/fleet/session/exchange-history.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";

test("what is kept of token requests may be damaged, or not be kept at all", async () => {
  const clock = createManualClock();
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-session-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const text of ["", "{}", '["x",1e300,-5]']) {
    await writeFile(join(folder, "token-requests.json"), text);
    const times = await createExchangeHistory(folder, clock).load();
    expect(times.length).toBeLessThanOrEqual(2);
  }
  const nowhere = createExchangeHistory(join(folder, "token-requests.json", "no-folder"), clock);
  expect(await nowhere.load()).toEqual([]);
  await nowhere.keep([0], silentLog);
});

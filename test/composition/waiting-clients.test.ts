import { expect, it } from "vitest";
import { createWaitingClients } from "../../src/composition/web.ts";
import type { ClientCertificate } from "../../src/contracts/client-certificates.ts";
import { createManualClock } from "../support/manual-clock.ts";

const client = (thumbprint: string, isTrusted: boolean): ClientCertificate => ({
  thumbprint,
  isTrusted,
  isConfigured: false,
  isCa: false,
  subject: "",
  issuer: "",
  applicationUri: null,
  since: "",
  validFrom: "",
  validTo: "",
  warnings: [],
});

it("has the clients that nobody has let in, and none without OPC UA", async () => {
  const clock = createManualClock();
  const list = async () => [client("a", true), client("b", false)];
  expect(await createWaitingClients({ list }, clock)()).toMatchObject([{ thumbprint: "b" }]);
  expect(await createWaitingClients(null, clock)()).toEqual([]);
});

it("waits half a second for the disk, and asks it nothing more while it does not answer", async () => {
  const clock = createManualClock();
  let asked = 0;
  let answer = (_all: readonly ClientCertificate[]) => {};
  const list = () => {
    asked += 1;
    return new Promise<readonly ClientCertificate[]>((resolve) => {
      answer = resolve;
    });
  };
  const waiting = createWaitingClients({ list }, clock);
  const found = [waiting(), waiting()];
  await clock.settle(500);
  expect(await Promise.all(found)).toEqual([null, null]);
  expect(asked).toBe(1);
  answer([]);
  await clock.settle(0);
  const next = waiting();
  answer([client("b", false)]);
  expect(await next).toHaveLength(1);
  const failing = createWaitingClients({ list: () => Promise.reject(new Error("EIO")) }, clock);
  expect(await failing()).toBeNull();
});

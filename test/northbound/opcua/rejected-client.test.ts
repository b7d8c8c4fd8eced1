import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createLog } from "../../../src/platform/log.ts";
import {
  newClient,
  openApprovedSession,
  openSession,
  scada,
  scadaLogin,
  startServer,
} from "./opcua-harness.ts";

const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-rejected-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const rejected = join(dataDir, "opcua/server/rejected");
const trusted = join(dataDir, "opcua/server/trusted/certs");

async function moveAll(from: string, to: string): Promise<void> {
  const names = await readdir(from);
  expect(names).toHaveLength(1);
  for (const name of names) await rename(join(from, name), join(to, name));
}

it("a client whose certificate is rejected loses its session, and stays out until it is approved again", async () => {
  const running = await startServer({ dataDir, users: [scada], insecureLoopback: null });
  await expect(openSession(running.url, scadaLogin)).rejects.toThrow();
  await moveAll(rejected, trusted);
  const caller = await openApprovedSession(running.url, scadaLogin);
  const lost = once(caller.client, "connection_lost");
  await moveAll(trusted, rejected);
  // At once, although node-opcua sees its folders late.
  await expect(openSession(running.url, scadaLogin)).rejects.toThrow();
  await lost;
  await expect.poll(() => running.server.health().figures?.sessions).toBe(0);
  await caller.client.disconnect();
  await expect(openSession(running.url, scadaLogin)).rejects.toThrow();

  await moveAll(rejected, trusted);
  await (await openApprovedSession(running.url, scadaLogin)).close();
  await running.stop();
});

it("a decision of the server's own list lets a client in, and ends its session", async () => {
  const running = await startServer({
    dataDir: join(dataDir, "decided"),
    users: [scada],
    insecureLoopback: null,
  });
  const { clientCertificates } = running.server;
  await expect(openSession(running.url, scadaLogin)).rejects.toThrow();
  const [waiting] = await clientCertificates.list();
  expect(waiting).toMatchObject({ isTrusted: false, applicationUri: "urn:fleetgate:test-client" });
  const thumbprint = waiting?.thumbprint ?? "";
  expect(await clientCertificates.decide(thumbprint, true)).toMatchObject({ kind: "done", isNew: true });
  const caller = await openApprovedSession(running.url, scadaLogin);
  const lost = once(caller.client, "connection_lost");
  expect(await clientCertificates.decide(thumbprint, false)).toMatchObject({ kind: "done", isNew: true });
  await lost;
  await expect.poll(() => running.server.health().figures?.sessions).toBe(0);
  await caller.client.disconnect();
  await running.stop();
  expect(await clientCertificates.decide(thumbprint, true)).toMatchObject({ kind: "refused" });
});

it("the log names each client that is ended, and says whether it had a session", async () => {
  const lines: string[] = [];
  const running = await startServer(
    { dataDir: join(dataDir, "logged"), users: [scada], insecureLoopback: null },
    { log: createLog("debug", { write: (line) => void lines.push(line) }) },
  );
  const { clientCertificates } = running.server;
  await expect(openSession(running.url, scadaLogin)).rejects.toThrow();
  const [waiting] = await clientCertificates.list();
  const thumbprint = waiting?.thumbprint ?? "";
  await clientCertificates.decide(thumbprint, true);
  const caller = await openApprovedSession(running.url, scadaLogin);
  const silent = newClient(true);
  await silent.connect(running.url);
  const lost = [once(caller.client, "connection_lost"), once(silent, "connection_lost")];
  const before = lines.length;
  await clientCertificates.decide(thumbprint, false);
  await Promise.all(lost);

  const ended = () =>
    lines
      .slice(before)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => String(msg).includes("its certificate is not trusted"))
      .sort((one, other) => Number(one.sessions) - Number(other.sessions));
  const client = { thumbprint, subject: expect.stringContaining("CN="), from: expect.any(String) };
  await expect.poll(ended).toMatchObject([
    {
      ...client,
      sessions: 0,
      msg: "the connection of an OPC UA client without a session was ended: its certificate is not trusted",
    },
    {
      ...client,
      sessions: 1,
      msg: "the sessions of an OPC UA client were ended: its certificate is not trusted any more",
    },
  ]);
  await Promise.all([caller.client.disconnect(), silent.disconnect()]);
  await running.stop();
});

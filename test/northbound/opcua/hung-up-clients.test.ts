import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { queryObjects } from "node:v8";
import { ServerSecureChannelLayer } from "node-opcua";
import { afterAll, expect, it } from "vitest";
import { openApprovedSession, openSession, scada, scadaLogin, startServer } from "./opcua-harness.ts";

const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-hung-up-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const CLIENTS = 20;

/** A way to the server on which a client hangs up as soon as it has asked for an encrypted channel. */
async function startHangUp(target: string): Promise<Server & { readonly url: string }> {
  const { port } = new URL(target.replace("opc.tcp", "tcp"));
  const relay = createServer((client: Socket) => {
    const upstream = connect({ host: "127.0.0.1", port: Number(port), noDelay: true });
    for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
    upstream.on("close", () => client.destroy());
    upstream.pipe(client);
    client.on("data", (bytes) => {
      // Before it, the client asks for the server's certificate on a channel without security.
      const asksForChannel = /^OPN.+Basic256Sha256/s.test(bytes.toString("latin1"));
      upstream.write(bytes, () => asksForChannel && upstream.resetAndDestroy());
    });
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  const address = relay.address();
  if (address === null || typeof address === "string") throw new Error("the relay has no port");
  return Object.assign(relay, { url: `opc.tcp://localhost:${address.port}` });
}

it("nothing is kept of a client that hangs up while its certificate is judged", async () => {
  const running = await startServer({ dataDir, users: [scada], insecureLoopback: null });
  await expect(openSession(running.url, scadaLogin)).rejects.toThrow();
  const folder = join(dataDir, "opcua", "server");
  for (const name of await readdir(join(folder, "rejected")))
    await rename(join(folder, "rejected", name), join(folder, "trusted", "certs", name));
  await (await openApprovedSession(running.url, scadaLogin)).close();

  const channels = () => queryObjects(ServerSecureChannelLayer, { format: "count" });
  const before = channels();
  const relay = await startHangUp(running.url);
  for (let count = 0; count < CLIENTS; count += 1)
    await expect(openSession(relay.url, scadaLogin)).rejects.toThrow();
  relay.close();
  await expect.poll(channels, { interval: 250 }).toBeLessThanOrEqual(before);
  await running.stop();
  // To count them collects the garbage of the whole worker each time.
}, 180_000);

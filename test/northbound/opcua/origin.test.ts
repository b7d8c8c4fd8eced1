import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createFakeCommander } from "./fake-commands.ts";
import {
  type Caller,
  openApprovedSession,
  openSession,
  type RunningServer,
  startServer,
} from "./opcua-harness.ts";
import { int32 } from "./slots-harness.ts";

const user = { name: "plc1", password: "plc secret" };
const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-origin-"));
const rejected = join(dataDir, "opcua", "server", "rejected");
const trusted = join(dataDir, "opcua", "server", "trusted", "certs");
const commander = createFakeCommander();
let running: RunningServer;
let plc: Caller;

beforeAll(async () => {
  running = await startServer(
    {
      dataDir,
      users: [
        {
          name: user.name,
          number: null,
          role: "operator",
          secret: { kind: "plain", text: user.password },
        },
      ],
      insecureLoopback: null,
      robots: [{ robotId: "r1", alias: null, number: null, family: "cart", conveyorIndexes: [1] }],
    },
    { commander },
  );
  await expect(openSession(running.url, { user, secure: true })).rejects.toThrow();
  const [file = ""] = await readdir(rejected);
  await rename(join(rejected, file), join(trusted, file));
  plc = await openApprovedSession(running.url, { user, secure: true });
});
afterAll(async () => {
  await plc.close();
  await running.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

it("a command carries the address and the certificate of the session that sent it, for the audit log", async () => {
  const ticket = await plc.nextId("Robots.r1.ConveyorSlot.NextId");
  await plc.write(
    ["Robots.r1.ConveyorSlot.ConveyorIndex", int32(1)],
    ["Robots.r1.ConveyorSlot.MotorCommand", int32(1)],
    ["Robots.r1.ConveyorSlot.RequestId", int32(ticket)],
  );
  const { command } = await commander.next();
  const [file = ""] = await readdir(trusted);
  const pem = readFileSync(join(trusted, file), "utf8");
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ""), "base64");
  expect(command.source).toEqual({ protocol: "opcua", name: "plc1" });
  expect(command.origin).toEqual({
    address: expect.stringMatching(/^(::1|(::ffff:)?127\.0\.0\.1)$/),
    certificate: createHash("sha1").update(der).digest("hex"),
  });
});

import { randomBytes, scryptSync } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageSecurityMode, StatusCodes, UserTokenType, type VariantOptions } from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { createOpcUaServer } from "../../../src/northbound/opcua/server.ts";
import { PortTaken } from "../../../src/platform/listener.ts";
import { mission, missionChange, queueOf } from "./changes.ts";
import {
  newClient,
  opcUaOptions,
  opcUaParts,
  openApprovedSession,
  openSession,
  type RunningServer,
  startServer,
} from "./opcua-harness.ts";

const salt = randomBytes(16);
const hash = scryptSync("correct horse", salt, 64);
const users: readonly OpcUaUser[] = [
  {
    name: "plc1",
    number: null,
    role: "operator",
    secret: { kind: "plain", text: "plc secret" },
  },
  {
    name: "scada",
    number: null,
    role: "observer",
    secret: { kind: "plain", text: "scada secret" },
  },
  {
    name: "eva",
    number: null,
    role: "engineer",
    secret: { kind: "scrypt", text: `scrypt:${salt.toString("base64")}:${hash.toString("base64")}` },
  },
];
const plc1 = { name: "plc1", password: "plc secret" };
const destination: VariantOptions = { dataType: "String", value: "Dock A" };

describe("a secure server", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-secure-"));
  const rejected = join(dataDir, "opcua", "server", "rejected");
  const trusted = join(dataDir, "opcua", "server", "trusted", "certs");
  let running: RunningServer;

  beforeAll(async () => {
    running = await startServer({
      dataDir,
      users,
      insecureLoopback: null,
      robots: [{ robotId: "r1", alias: null, number: null, family: "cart", conveyorIndexes: [] }],
    });
    running.server.write({ changes: [missionChange("r1", queueOf(mission("m1")))], events: [] });
  });
  afterAll(() => running.stop());

  it("offers signed and encrypted sessions and passwords only", async () => {
    const client = newClient();
    await client.connect(running.url);
    const endpoints = await client.getEndpoints();
    await client.disconnect();
    expect(endpoints.length).toBeGreaterThan(0);
    for (const endpoint of endpoints) {
      expect(endpoint.securityMode).toBe(MessageSecurityMode.SignAndEncrypt);
      expect(endpoint.userIdentityTokens?.map((policy) => policy.tokenType)).toEqual([
        UserTokenType.UserName,
      ]);
    }
  });

  it("refuses a session without security", async () => {
    await expect(openSession(running.url)).rejects.toThrow();
    await expect(openSession(running.url, { user: plc1 })).rejects.toThrow();
  });

  it("rejects a certificate that nobody approved, and lets it in once it was moved to the trusted ones", async () => {
    await expect(openSession(running.url, { user: plc1, secure: true })).rejects.toThrow();
    const [file, ...others] = await readdir(rejected);
    if (file === undefined) throw new Error("nothing was put aside for approval");
    expect(others).toEqual([]);
    await rename(join(rejected, file), join(trusted, file));
    const caller = await openApprovedSession(running.url, { user: plc1, secure: true });
    expect(await caller.value("Robots.r1.Mission.MissionId")).toBe("m1");
    await caller.close();
  });

  it.each([
    ["a wrong password", { name: "plc1", password: "wrong" }],
    ["an empty password", { name: "plc1", password: "" }],
    ["a user that there is none of", { name: "mallory", password: "" }],
    ["a wrong password against a hash", { name: "eva", password: "correct horses" }],
  ])("refuses %s", async (_what, user) => {
    await expect(openSession(running.url, { user, secure: true })).rejects.toThrow(/BadUserAccessDenied/);
  });

  it("refuses anonymous users", async () => {
    await expect(openSession(running.url, { secure: true })).rejects.toThrow();
  });

  it("lets operators and engineers write, and observers read only", async () => {
    const name = "Robots.r1.MissionSlot.Destination";
    const cases = [
      [plc1, StatusCodes.Good],
      [{ name: "eva", password: "correct horse" }, StatusCodes.Good],
      [{ name: "scada", password: "scada secret" }, StatusCodes.BadUserAccessDenied],
    ] as const;
    for (const [user, status] of cases) {
      const caller = await openSession(running.url, { user, secure: true });
      expect(await caller.value("Robots.r1.Mission.MissionId")).toBe("m1");
      expect(await caller.write([name, destination])).toEqual([status]);
      expect(
        await caller.write(["Robots.r1.MissionSlot.RequestId", { dataType: "Int32", value: 0 }]),
      ).toEqual([status]);
      await caller.close();
    }
  });
});

describe("a server without security", () => {
  it("is refused on an address that others reach", async () => {
    const server = createOpcUaServer(opcUaOptions({ host: "0.0.0.0" }), opcUaParts());
    await expect(server.run(new AbortController().signal, () => {})).rejects.toThrow(/loopback/);
  });

  it("gives anonymous users the role of the configuration and no more", async () => {
    const running = await startServer({
      insecureLoopback: { role: "observer" },
      robots: [{ robotId: "r1", alias: null, number: null, family: "cart", conveyorIndexes: [] }],
    });
    const caller = await openSession(running.url);
    expect(await caller.write(["Robots.r1.MissionSlot.Destination", destination])).toEqual([
      StatusCodes.BadUserAccessDenied,
    ]);
    await caller.close();
    await running.stop();
  });

  it("does not let a user be called anonymous", async () => {
    const user: OpcUaUser = {
      name: "anonymous",
      number: null,
      role: "engineer",
      secret: { kind: "plain", text: "x" },
    };
    const server = createOpcUaServer(opcUaOptions({ users: [user] }), opcUaParts());
    await expect(server.run(new AbortController().signal, () => {})).rejects.toThrow(/anonymous/);
  });
});

describe("the listener", () => {
  it("says which port is taken", async () => {
    const squatter = createServer();
    const port = await new Promise<number>((resolve) => {
      squatter.listen(0, "127.0.0.1", () => {
        const address = squatter.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
    const server = createOpcUaServer(opcUaOptions({ port }), opcUaParts());
    const error: unknown = await server
      .run(new AbortController().signal, () => {})
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PortTaken);
    expect(error).toMatchObject({ port, listener: "opcua" });
    expect(server.health().state).toBe("down");
    await new Promise((resolve) => squatter.close(resolve));
  });

  it("lets go of everybody at once when it stops", async () => {
    const running = await startServer();
    const client = newClient();
    await client.connect(running.url);
    await client.createSession();
    const before = performance.now();
    await running.stop();
    // The client never leaves by itself.
    expect(performance.now() - before).toBeLessThan(10_000);
    await client.disconnect();
  });
});

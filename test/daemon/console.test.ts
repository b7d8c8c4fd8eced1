import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { askGateway } from "../../src/cli/control-client.ts";
import type { Certificates } from "../../src/northbound/web/api/gateway.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { describePages, logIn, type OpenedPage } from "../console/page/page-harness.ts";
import { openApprovedSession, openSession } from "../northbound/opcua/opcua-harness.ts";
import { freePorts } from "../support/free-ports.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const ROBOT = "cart-01";
const users = { eva: "engineer", omar: "operator" } as const;
const passwordOf = (name: string) => `the word of ${name}`;
const plc = { user: { name: "line1", password: passwordOf("line1") }, secure: true } as const;

/** `fleetgate run` with users and TLS, as a plant has it. */
describePages("the console of the built gateway", (pages) => {
  let folder: string;
  let port: number;
  let simulator: RunningSimulator;
  let daemon: Daemon;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "fleetgate-console-"));
    port = await freePorts(2);
    simulator = await startSimulator({ dataDir: join(folder, "fleet"), seed: 7, timeFactor: 1 });
    const authority = await createCa(Date.now());
    const made = await createServerCertificate(authority, ["127.0.0.1", "localhost"], Date.now());
    writeFileSync(join(folder, "web.pem"), made.certificate);
    writeFileSync(join(folder, "web.key"), made.key, { mode: 0o600 });
    for (const name of [...Object.keys(users), "line1"])
      writeFileSync(join(folder, `${name}.pw`), passwordOf(name), { mode: 0o600 });
    daemon = startDaemon(await write());
    await daemon.says(READY);
  });
  afterAll(async () => {
    await daemon?.stop();
    await simulator?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  function write(floor: object = {}): Promise<string> {
    const sections = Object.entries(users).map(([name, role]) => [name, { password: `${name}.pw`, role }]);
    return writeConfiguration(folder, "plant", simulator.endpoints, [ROBOT], "mqtt://127.0.0.1:9", {
      opcua: { listen: { port }, users: { line1: { password: "line1.pw", role: "operator" } } },
      web: {
        listen: { port: port + 1 },
        tls: { certificate: "web.pem", key: "web.key" },
        users: Object.fromEntries(sections),
        floor,
      },
    });
  }

  const opcUaUrl = () => `opc.tcp://localhost:${port}`;
  const webUrl = () => `https://127.0.0.1:${port + 1}`;

  /** A browser in which a user has logged in. */
  async function open(user: keyof typeof users, path: string): Promise<OpenedPage> {
    const opened = await pages.openPage(`${webUrl()}${path}`, { ignoreHTTPSErrors: true });
    await logIn(opened.page, user, passwordOf(user));
    return opened;
  }

  /** The thumbprint of the client that has knocked and waits. */
  async function waiting(context: BrowserContext): Promise<string> {
    await expect(openSession(opcUaUrl(), plc)).rejects.toThrow();
    const answer = await context.request.get(`${webUrl()}/api/v1/certificates`);
    const { certificates } = (await answer.json()) as Certificates;
    expect(certificates).toMatchObject([{ state: "waiting" }]);
    return certificates[0]?.thumbprint ?? "";
  }

  it("gives an operator no decision on an OPC UA client, by the page or by the API", async () => {
    const { context, page } = await open("omar", "/connections");
    const thumbprint = await waiting(context);
    await page.getByText("You cannot decide on them here:").waitFor();
    await page.getByRole("row").filter({ hasText: thumbprint }).getByText("waits, or was rejected").waitFor();
    expect(await page.getByRole("button", { name: /Approve|Reject/ }).count()).toBe(0);
    const url = `${webUrl()}/api/v1/certificates/${thumbprint}`;
    const data = { trusted: true, password: passwordOf("omar") };
    const answer = await context.request.put(url, { data });
    expect([answer.status(), await answer.json()]).toEqual([
      403,
      expect.objectContaining({ detail: expect.stringContaining("engineer") }),
    ]);
    await expect(openSession(opcUaUrl(), plc)).rejects.toThrow();
  });

  it("lets an engineer approve a client with the password again, and then it connects", async () => {
    const { context, page } = await open("eva", "/connections");
    const thumbprint = await waiting(context);
    const row = page.getByRole("row").filter({ hasText: thumbprint });
    await row.getByRole("button", { name: "Approve…" }).click();
    const step = page.getByRole("form", { name: /^Approve / });
    await step.getByText(thumbprint).waitFor();
    await step.getByLabel("Your password").fill(passwordOf("omar"));
    await step.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Nothing was changed: the password is wrong.").waitFor();
    await expect(openSession(opcUaUrl(), plc)).rejects.toThrow();
    await step.getByLabel("Your password").fill(passwordOf("eva"));
    await step.getByRole("button", { name: "Approve" }).click();
    await row.getByText("● trusted").waitFor();
    const session = await openApprovedSession(opcUaUrl(), plc);
    pages.closeAfter(() => session.close());
    await session.until(`Robots.${ROBOT}.Valid`, true);
    await page.getByRole("row").filter({ hasText: "line1" }).first().waitFor();
  });

  it("lets an engineer lift an operator's hold, and no operator an engineer's", async () => {
    const [eva, omar] = [await open("eva", `/robots/${ROBOT}`), await open("omar", `/robots/${ROBOT}`)];
    for (const { page } of [omar, eva]) {
      await page.getByRole("button", { name: "Hold…" }).click();
      await page.getByRole("button", { name: `Hold ${ROBOT}` }).click();
      await page.getByRole("button", { name: "Lift your hold…" }).waitFor();
    }
    await omar.page.getByText("held by web:omar, web:eva").waitFor();
    expect(await omar.page.getByRole("button", { name: /Lift the hold of/ }).count()).toBe(0);
    const data = { hold: false, user: "web:eva" };
    const answer = await omar.context.request.put(`${webUrl()}/api/v1/robots/${ROBOT}/hold`, { data });
    expect([answer.status(), await answer.json()]).toMatchObject([403, { code: "NOT_ALLOWED" }]);
    await eva.page.getByRole("button", { name: "Lift the hold of web:omar…" }).click();
    await eva.page.getByRole("button", { name: `Lift the hold of web:omar ${ROBOT}` }).click();
    await omar.page.getByText("held by web:eva", { exact: true }).waitFor();
  });

  it("shows the floor of a configuration that is loaded while the page is open", async () => {
    const { page } = await open("omar", "/");
    await page.getByRole("link", { name: ROBOT, exact: true }).waitFor();
    const legend = page.getByRole("list", { name: "Points" });
    expect(await legend.count()).toBe(0);
    await write({ pointTypes: { 1: { name: "load station", shape: "square" } } });
    const socket = join(folder, "data", "control.sock");
    const request = { method: "POST", path: "/api/v1/reload" } as const;
    const { status } = await askGateway(socket, request, new AbortController().signal);
    expect(status).toBe(200);
    await legend.getByText("load station").waitFor();
  });
});

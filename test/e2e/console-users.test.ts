import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Commands } from "../../src/northbound/web/api/command.ts";
import { describePages, logIn, type OpenedPage } from "../console/page/page-harness.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type RunningGateway, startGateway } from "./e2e-harness.ts";

const ROBOT = "cart-01";
const PASSWORD = "a-word-of-a-test";
/** A name that a hostile website gives the gateway's address. */
const REBOUND = "rebound.example";
const users = { olga: "observer", omar: "operator", otto: "operator" } as const;

describePages(
  "the console of a gateway with users",
  (pages) => {
    let folder: string;
    let simulator: RunningSimulator;
    let gateway: RunningGateway;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "fleetgate-console-"));
      await writeFile(join(folder, "password"), PASSWORD, { mode: 0o600 });
      simulator = await startSimulator({ dataDir: join(folder, "fleet"), seed: 7, timeFactor: 1 });
      const sections = Object.entries(users).map(([name, role]) => [name, { password: "password", role }]);
      const operator = { source: { protocol: "mqtt", name: "*" }, role: "operator" };
      const web = { users: Object.fromEntries(sections) };
      gateway = await startGateway(folder, simulator.endpoints, { web, rights: [operator] });
    });
    afterAll(async () => {
      await gateway.stop();
      await simulator.stop();
      await rm(folder, { recursive: true });
    });

    const robotUrl = () => `${gateway.webUrl}/robots/${ROBOT}`;

    /** A browser of a user who has logged in, at the robot's page. */
    async function open(user: keyof typeof users): Promise<OpenedPage> {
      const opened = await pages.openPage(robotUrl());
      await logIn(opened.page, user, PASSWORD);
      return opened;
    }

    async function commandsOf(context: BrowserContext): Promise<Commands["commands"]> {
      const answer = await context.request.get(`${gateway.webUrl}/api/v1/commands`);
      return ((await answer.json()) as Commands).commands;
    }

    /** Sends the robot far enough to be on its way for the rest of a test. */
    async function drive(context: BrowserContext): Promise<void> {
      const goals = ["Station D", "Station A", "Station D"].map((destinationId) => ({ destinationId }));
      const data = {
        operation: "CreateMission",
        request: { robotId: ROBOT, mission: { cartMission: { traverseMission: { goals } } } },
        expires_in_ms: 10_000,
      };
      const id = `drive-${Math.random()}`;
      const answer = await context.request.put(`${gateway.webUrl}/api/v1/commands/${id}`, { data });
      expect(answer.ok(), await answer.text()).toBe(true);
    }

    const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

    it("lets an observer look, and an operator pause, also when the answer is lost on its way", async () => {
      const observer = await open("olga");
      const operator = await open("omar");
      await drive(operator.context);
      await observer.page.getByText(/^Moves since/).waitFor();
      await observer.page.getByText(/^You may not command this robot: /).waitFor();
      expect(await observer.page.getByRole("button", { name: /Pause|mission|charge/ }).count()).toBe(0);
      // Another program in the observer's name, which does not ask what it may.
      const data = { operation: "ChargeRobot", request: { robotId: ROBOT }, expires_in_ms: 10_000 };
      const url = `${gateway.webUrl}/api/v1/commands/observer-1`;
      const answer = await observer.context.request.put(url, { data });
      expect(await answer.json()).toMatchObject({ outcome: "refused", code: "NOT_ALLOWED" });
      let lost = 0;
      await operator.page.route("**/api/v1/commands/*", async (route) => {
        if (route.request().method() !== "PUT" || lost > 0) return route.continue();
        lost += 1;
        await route.fetch();
        await route.abort();
      });
      await press(operator.page, `Pause ${ROBOT}`);
      await operator.page.getByText(`Pause ${ROBOT}: succeeded`).waitFor();
      await observer.page.getByText(/^Stands since .*: its mission is paused/).waitFor();
      expect(lost).toBe(1);
      const [pause, ...others] = (await commandsOf(operator.context)).filter(
        ({ operation, outcome }) => operation === "UpdateMission" && outcome === "succeeded",
      );
      expect(pause).toMatchObject({ protocol: "web", user: "omar" });
      expect(others).toEqual([]);
    });

    it("lets a second step lapse when another operator was quicker, and names the other's command", async () => {
      const [omar, otto] = [await open("omar"), await open("otto")];
      for (const { page } of [otto, omar]) await press(page, "Resume mission…");
      await press(otto.page, `Resume mission ${ROBOT}`);
      await otto.page.getByText(/Resume mission: succeeded/).waitFor();
      await omar.page.getByText("Resume mission: not sent, because the robot's state has changed.").waitFor();
      const second = omar.page.getByRole("alertdialog");
      // The robot drives, so its state may end the second step before it is read, or before the click. It
      // does not come back by itself.
      const named = second.getByText(/UpdateMission: resume.* by web:otto/);
      const ended = omar.page.getByText(/^Cancel mission: not sent, because/);
      do {
        await press(omar.page, "Cancel mission…");
        await named.or(ended).waitFor();
      } while (!(await named.isVisible()));
      const doNot = omar.page.getByRole("button", { name: "Do not send", exact: true });
      await doNot.click({ timeout: 5_000 }).catch(() => {});
      await doNot.waitFor({ state: "hidden" });
      await press(omar.page, `Pause ${ROBOT}`);
      await omar.page.getByText(`Pause ${ROBOT}: succeeded`).waitFor();
    });

    it("shows nothing any more when the session has ended", async () => {
      const { context, page } = await open("otto");
      const other = await pages.openTab(context, robotUrl());
      await other.getByText("● live").waitFor();
      await press(other, "Log out");
      await page.getByRole("heading", { name: "Log in" }).waitFor();
      expect(await page.getByText(ROBOT).count()).toBe(0);
      await page.reload();
      await page.getByRole("heading", { name: "Log in" }).waitFor();
    });

    it("follows the gateway in four tabs of a browser; the oldest of more says so, and takes over", async () => {
      const { context, page } = await open("omar");
      const tabs = [page];
      const said = /✕ four other tabs of this browser follow the gateway/;
      while (tabs.length < 7) {
        const tab = await pages.openTab(context, robotUrl());
        await tab.getByText("● live").waitFor();
        tabs.push(tab);
      }
      for (const tab of tabs.slice(0, 3)) await tab.getByText(said).waitFor();
      for (const tab of tabs.slice(3)) expect(await tab.getByText("● live").count()).toBe(1);
      // With four streams open the browser has connections left for this.
      await tabs[6]?.getByRole("link", { name: "Commands" }).click();
      await tabs[6]?.getByRole("link", { name: "UpdateMission" }).first().waitFor();
      await press(page, "Connect again");
      await page.getByText("● live").waitFor();
      await tabs[3]?.getByText(said).waitFor();
    });

    it.each(["localhost", "127.0.0.1"])("gives a website at %s nothing, and takes nothing", async (host) => {
      const { context } = await open("omar");
      const before = (await commandsOf(context)).length;
      const website = await openWebsite();
      pages.closeAfter(async () => website.close());
      const page = await context.newPage();
      await page.goto(`http://${host}:${(website.address() as AddressInfo).port}`);
      const attempts = await page.evaluate<Record<string, string>>(attack(gateway.webUrl));
      expect(attempts).toEqual({
        read: "TypeError: Failed to fetch",
        command: "TypeError: Failed to fetch",
        simple: "TypeError: Failed to fetch",
        stream: "error",
        frame: "closed",
      });
      expect((await commandsOf(context)).length).toBe(before);
    });

    it("does not answer for a name that a website has given its address", async () => {
      const context = await pages.browser.newContext();
      pages.closeAfter(() => context.close());
      const page = await context.newPage();
      const { port } = new URL(gateway.webUrl);
      const response = await page.goto(`http://${REBOUND}:${port}/`);
      expect(response?.status()).toBe(421);
      expect(await page.content()).not.toContain('id="console"');
      const data = await page.goto(`http://${REBOUND}:${port}/api/v1/session`);
      expect(data?.status()).toBe(421);
    });
  },
  [`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`],
);

async function openWebsite(): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end("<!doctype html><title>a game</title>");
  });
  server.listen(0);
  await once(server, "listening");
  return server;
}

/** What a website does with the browser of a user who is logged in, and what became of it. */
const attack = (url: string) => `(async () => {
  const url = ${JSON.stringify(url)};
  const body = JSON.stringify({
    operation: "ChargeRobot", request: { robotId: ${JSON.stringify(ROBOT)} }, expires_in_ms: 10000,
  });
  const why = (error) => String(error);
  const json = { "content-type": "application/json" };
  const read = await fetch(url + "/api/v1/robots", { credentials: "include" })
    .then((answer) => answer.text(), why);
  const command = await fetch(url + "/api/v1/commands/evil-1", {
    method: "PUT", credentials: "include", headers: json, body,
  }).then((answer) => answer.text(), why);
  // Sent without asking first; its answer is closed to the website.
  const simple = await fetch(url + "/api/v1/session", {
    method: "POST", mode: "no-cors", credentials: "include", body,
  }).then(({ type }) => type, why);
  const stream = await new Promise((resolve) => {
    const source = new EventSource(url + "/api/v1/stream", { withCredentials: true });
    source.onopen = () => resolve("open");
    source.onerror = () => resolve("error");
  });
  const frame = await new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.src = url + "/";
    frame.onload = () => {
      try { resolve(frame.contentDocument === null ? "closed" : "open"); } catch { resolve("closed"); }
    };
    document.body.append(frame);
  });
  return { read, command, simple, stream, frame };
})()`;

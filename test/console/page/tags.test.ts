import type { FastifyInstance } from "fastify";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import {
  type Certificate,
  type Connections,
  certificate,
  certificateRequest,
  certificates,
  connections,
} from "../../../src/northbound/web/api/gateway.ts";
import { type Tag, tags } from "../../../src/northbound/web/api/tag.ts";
import { PASSWORD } from "./fake-gateway.ts";
import { describePages } from "./page-harness.ts";

const charge: Tag = {
  protocol: "opcua",
  address: "ns=2;s=Robots.cart-1.Battery.ChargePercent",
  robot_id: "cart-1",
  station: null,
  type: "Float",
  value: 81,
  clipped: false,
  quality: "good",
  status: "Good",
  source_time: "2026-01-02T03:04:05.000Z",
  received_at: "2026-01-02T03:04:05.000Z",
  age_ms: 10,
  description: { en: "How full the battery is", de: "Wie voll die Batterie ist" },
  unit: "%",
  meaning: null,
  equivalents: ["fleetgate/plant1/robots/cart-1/battery"],
};
const topic: Tag = {
  ...charge,
  protocol: "mqtt",
  address: "fleetgate/plant1/robots/cart-1/battery",
  type: "JSON",
  value: '<img src=x onerror="document.title=1">',
  quality: "lost",
  status: null,
  description: null,
  unit: null,
  equivalents: [],
};
const waiting: Certificate = {
  thumbprint: "3f2a9c0123456789012345678901234567890123",
  state: "waiting",
  since: "2026-01-02T03:04:05.000Z",
  subject: "CN=<b>scada</b>",
  issuer: "CN=scada",
  application_uri: "urn:scada",
  ca: false,
  configured: false,
  valid_from: "2026-01-02T03:04:05.000Z",
  valid_to: "2027-01-02T03:04:05.000Z",
  warnings: [],
};
const facts: Connections = {
  count: 1,
  next: null,
  connections: [
    {
      name: "opcua",
      state: "degraded",
      since: "2026-01-02T03:04:05.000Z",
      detail: "user eyes has 3 sessions",
      figures: {},
      peer_count: 1,
      peers: [
        {
          kind: "session",
          name: "plc1",
          client: "S7-1500",
          address: "10.0.0.7",
          state: "lost",
          since: "2026-01-02T03:04:05.000Z",
          detail: "its connection is gone",
        },
      ],
    },
  ],
  queues: [{ name: "mqtt", figures: { events_dropped: 2, events_waiting: 0 } }],
  disk: { path: "/var/lib/fleetgate", free_bytes: 3 * 1_024 ** 3, detail: "" },
  expiries: [
    {
      kind: "token",
      name: "fleet service",
      path: null,
      ends_at: "2026-01-02T03:04:05.000Z",
      seconds_left: 600,
    },
    {
      kind: "certificate",
      name: "web.tls.certificate",
      path: "/etc/a.pem",
      ends_at: "2026-01-02T03:04:05.000Z",
      seconds_left: 5 * 86_400,
    },
  ],
};

/** What the gateway answers, and what it was asked. */
interface Answers {
  tags: readonly Tag[];
  next: string | null;
  isFailing: boolean;
  certificate: Certificate;
  /** A decision is done, and its answer is lost. */
  isCut: boolean;
  whyNot: string;
  cluster: Connections["cluster"];
  readonly asked: URLSearchParams[];
  readonly decided: unknown[];
}

describePages("tags and connections", (pages) => {
  function routes(server: FastifyInstance, answers: Answers): void {
    server.get("/api/v1/tags", (request, reply) => {
      const query = new URL(request.url, "http://localhost").searchParams;
      answers.asked.push(query);
      if (answers.isFailing) return reply.code(503).send({ detail: "too many searches: try again later" });
      const address = query.get("address");
      const wanted = answers.tags.filter((tag) => address === null || tag.address === address);
      return reply.send(
        tags.parse({ count: wanted.length, next: answers.next, tags: wanted, missing_robots: 2 }),
      );
    });
    server.get("/api/v1/connections", async () =>
      connections.parse({ ...facts, ...(answers.cluster && { cluster: answers.cluster }) }),
    );
    server.get("/api/v1/certificates", async () =>
      certificates.parse({
        count: 1,
        next: null,
        certificates: [answers.certificate],
        why_not: answers.whyNot,
      }),
    );
    server.put<{ Params: { thumbprint: string } }>("/api/v1/certificates/:thumbprint", (request, reply) => {
      const asked = certificateRequest.parse(request.body);
      answers.decided.push({ ...asked, thumbprint: request.params.thumbprint });
      if (asked.password !== PASSWORD) return reply.code(403).send({ detail: "the password is wrong" });
      answers.certificate = { ...waiting, state: asked.trusted ? "trusted" : "waiting" };
      if (answers.isCut) request.raw.socket.destroy();
      return reply.send(certificate.parse(answers.certificate));
    });
  }

  async function open(
    path: string,
    change: Partial<Answers> = {},
  ): Promise<{ readonly page: Page; readonly answers: Answers }> {
    const answers: Answers = {
      tags: [charge, topic],
      next: null,
      isFailing: false,
      certificate: waiting,
      isCut: false,
      whyNot: "",
      cluster: undefined,
      asked: [],
      decided: [],
      ...change,
    };
    const permissions = ["clipboard-read", "clipboard-write"];
    const addRoutes = (server: FastifyInstance) => routes(server, answers);
    const { page } = await pages.open(path, { addRoutes, permissions });
    return { page, answers };
  }

  const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

  it("shows each tag with value, quality and time, and takes what is new by itself", async () => {
    const { page, answers } = await open("/tags");
    await page.getByText("2 tags, 2 shown. OPC UA nodes of 2 robots are still being made").waitFor();
    expect(await row(page, charge.address).textContent()).toMatch(/81.*● good.*\d\d:\d\d:\d\d.*cart-1/s);
    // A payload is text, whatever is in it.
    expect(await row(page, topic.address).textContent()).toMatch(/<img src=x .*◆ lost/s);
    answers.tags = [{ ...charge, value: 80 }];
    await page.getByText("1 tag, 1 shown.").waitFor();
    expect(await row(page, charge.address).textContent()).toContain("80");
  });

  it("offers other pages only when one is read", async () => {
    const { page, answers } = await open("/tags", { isFailing: true, next: "second" });
    await page.getByText("too many searches").waitFor();
    const next = page.getByRole("button", { name: "Next page" });
    expect(await next.count()).toBe(0);
    answers.isFailing = false;
    await next.click();
    await expect.poll(() => answers.asked.at(-1)?.get("cursor")).toBe("second");
  });

  it("keeps the focus on what turned the page, and gives it to the heading at the last page", async () => {
    const { page, answers } = await open("/tags", { next: "second" });
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    const next = page.getByRole("button", { name: "Next page" });
    const before = page.getByRole("button", { name: "Page before" });
    await next.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => before.isEnabled()).toBe(true);
    expect(await focused()).toBe("Next page");
    answers.next = null;
    await page.keyboard.press("Enter");
    await expect.poll(() => next.isDisabled()).toBe(true);
    await expect.poll(focused).toBe("Tags");
    answers.next = "third";
    await before.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => next.isEnabled()).toBe(true);
    expect(await focused()).toBe("Page before");
  });

  it("copies an address by one click", async () => {
    const { page } = await open("/tags");
    await page.getByRole("button", { name: `Copy ${charge.address}` }).click();
    await row(page, charge.address).getByText("copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(charge.address);
  });

  it("has each search, and each tag, under an address of its own", async () => {
    const { page, answers } = await open("/tags");
    await page.getByLabel("Search").fill("cart-1 batt");
    await page.getByLabel("Protocol").selectOption("opcua");
    await expect.poll(() => answers.asked.at(-1)?.get("protocol")).toBe("opcua");
    expect(answers.asked.at(-1)?.get("text")).toBe("cart-1 batt");
    expect(new URL(page.url()).search).toBe("?text=cart-1+batt&protocol=opcua");
    await page.getByLabel("Robot", { exact: true }).fill("cart-1");
    await expect.poll(() => answers.asked.at(-1)?.get("robot")).toBe("cart-1");
    await page.reload();
    await page.getByText("● live").waitFor();
    expect(await page.getByLabel("Search").inputValue()).toBe("cart-1 batt");
    expect(await page.getByLabel("Robot", { exact: true }).inputValue()).toBe("cart-1");
    await page.getByRole("link", { name: charge.address }).click();
    await page.getByRole("heading", { name: charge.address }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/tags/opcua/${encodeURIComponent(charge.address)}`);
    await page.getByRole("definition").filter({ hasText: "81" }).waitFor();
  });

  it("says what a tag is, in which unit, and leads to the same in the other protocol", async () => {
    const { page, answers } = await open("/tags");
    expect(await row(page, charge.address).textContent()).toContain("81 %");
    await page.getByRole("link", { name: charge.address }).click();
    await page.getByText("How full the battery is").waitFor();
    await page.getByRole("link", { name: topic.address }).click();
    await page.getByRole("heading", { name: topic.address }).waitFor();
    answers.tags = [{ ...charge, value: 1, unit: null, meaning: { en: "charging", de: "lädt" } }];
    await page.goBack();
    await page.getByRole("definition").filter({ hasText: "1: charging" }).waitFor();
  });

  it("has each address of the other protocol below the one before, and leads back to the list", async () => {
    const { page, answers } = await open("/tags");
    const [same = ""] = charge.equivalents;
    answers.tags = [{ ...charge, equivalents: [same, `${same}/charge_percent`] }];
    await page.getByRole("link", { name: charge.address }).click();
    const lefts = () =>
      page.locator(".facts dd").evaluateAll((all) => all.map((each) => each.getBoundingClientRect().left));
    await page.getByRole("link", { name: `${same}/charge_percent` }).waitFor();
    expect(new Set(await lefts()).size).toBe(1);
    await page.getByRole("link", { name: "all of cart-1" }).click();
    expect(new URL(page.url()).search).toBe("?robot=cart-1");
  });

  it("says how a search finds more, when no tag has its words", async () => {
    const { page, answers } = await open("/tags");
    answers.tags = [];
    await page.getByText("No tag has all of these words").waitFor();
    await page.getByLabel("Robot", { exact: true }).fill("cart");
    await page.getByText("Write the id of the robot as a whole").waitFor();
    expect(await page.getByText("No tag has all of these words").count()).toBe(0);
  });

  it("draws a number with its newest value, and one that has not changed again", async () => {
    const { page, answers } = await open(`/tags/opcua/${encodeURIComponent(charge.address)}`);
    const points = async () => {
      const line = page.locator(".spark polyline");
      return (await line.count()) === 0 ? [] : ((await line.getAttribute("points")) ?? "").split(" ");
    };
    await expect.poll(async () => (await points()).length).toBeGreaterThanOrEqual(2);
    answers.tags = [{ ...charge, value: 92 }];
    await page.getByRole("definition").filter({ hasText: "92" }).waitFor();
    // In the frame of the number itself, or the next one, and not with the next answer.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    expect(await page.getByText("Since the page was opened: 81 to 92").count()).toBe(1);
    const [newest] = (await points()).slice(-1);
    expect(newest).toBe("100.0,2.0");
  });

  it("draws the number of a topic, whose payload is text", async () => {
    const { page, answers } = await open("/tags");
    const address = "fleetgate/demo/robots/cart-1/tags/battery/charge_percent";
    answers.tags = [{ ...charge, protocol: "mqtt", address, type: "text", unit: null, value: "81" }];
    await page.locator(`a[href*="${encodeURIComponent(address)}"]`).click();
    await page.getByText("Since the page was opened: 81 to 81").waitFor();
  });

  it("says since when it could not be read, and greys it", async () => {
    const { page, answers } = await open("/tags");
    await row(page, charge.address).waitFor();
    answers.isFailing = true;
    await page.getByText(/Not read since \d\d:\d\d:\d\d: too many searches/).waitFor();
    await page.locator(".unconfirmed").filter({ hasText: charge.address }).waitFor({ timeout: 15_000 });
    answers.isFailing = false;
    await page.getByText("Not read since").waitFor({ state: "detached" });
    expect(await page.locator(".unconfirmed").count()).toBe(0);
  });

  it("shows who is connected, what was dropped, and what will not last", async () => {
    const { page } = await open("/connections");
    expect(await row(page, "OPC UA server").textContent()).toMatch(/◆ degraded.*user eyes has 3 sessions/s);
    expect(await row(page, "S7-1500").textContent()).toMatch(/plc1.*10\.0\.0\.7.*◆ lost/s);
    expect(await row(page, "events dropped").textContent()).toBe("to the MQTT brokerevents dropped 2");
    expect(await row(page, "web.tls.certificate").textContent()).toContain("◆ 5 days");
    expect(await row(page, "token for the fleet service").textContent()).toContain("● 10 min");
    await page.getByText("3.2 GB free").waitFor();
  });

  it("shows which box leads, or why none does, and robots in doubt", async () => {
    const { page, answers } = await open("/connections");
    await page.getByText("3.2 GB free").waitFor();
    expect(await page.getByText("Robots in doubt").count()).toBe(0);
    const place = { ...{ member: "box-a", epoch: 7, lag_ms: 0 }, members: ["box-a", "box-b"] };
    const led = { leader: "box-a", unled_because: null, robots_in_doubt: 3 };
    answers.cluster = { ...place, ...led, role: "leader" };
    await page.getByText("Robots in doubt").waitFor();
    expect(await row(page, "box-a, box-b").textContent()).toBe("box-a● leaderbox-a70 s◆ 3box-a, box-b");
    const because = "box-a could not fence box-b: it has ended with exit code 1";
    answers.cluster = { ...place, role: "standby", leader: null, unled_because: because, robots_in_doubt: 0 };
    await page.getByText(because).waitFor();
    expect(await row(page, "box-a, box-b").textContent()).toBe(`box-a● standby${because}70 s0box-a, box-b`);
  });

  it("lets a client in after the password was given again, and says when it was wrong", async () => {
    const { page, answers } = await open("/connections");
    await page.getByRole("button", { name: "Approve…" }).click();
    const step = page.getByRole("form", { name: /^Approve CN=<b>scada/ });
    await step.getByText("Compare the thumbprint").waitFor();
    await step.getByText(waiting.thumbprint).waitFor();
    await step.getByLabel("Your password").fill("a-guess");
    await step.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Nothing was changed: the password is wrong.").waitFor();
    await step.getByLabel("Your password").fill(PASSWORD);
    await step.getByLabel("Your password").press("Enter");
    await page.getByText(/scada.* was approved\./).waitFor();
    // At once, though the list is asked for only each two seconds.
    expect(await page.getByText("● trusted").count()).toBe(1);
    expect(answers.decided).toEqual([
      { trusted: true, password: "a-guess", thumbprint: waiting.thumbprint },
      { trusted: true, password: PASSWORD, thumbprint: waiting.thumbprint },
    ]);
    await page.getByRole("button", { name: "Reject…" }).waitFor();
  });

  it("does not say that nothing was changed when the answer was lost", async () => {
    const { page, answers } = await open("/connections");
    answers.isCut = true;
    await page.getByRole("button", { name: "Approve…" }).click();
    await page.getByLabel("Your password").fill(PASSWORD);
    await page.getByLabel("Your password").press("Enter");
    await page.getByText(/^It is not known whether that was done: /).waitFor();
    expect(await page.getByText("Nothing was changed").count()).toBe(0);
    await page.getByText("● trusted").waitFor();
  });

  it("offers no decision where the gateway takes none, and says why", async () => {
    const { page, answers } = await open("/tags");
    answers.whyNot = "nobody logs in here, so no password shows who decides";
    await page.getByRole("link", { name: "Connections" }).click();
    await page.getByText("You cannot decide on them here: nobody logs in here").waitFor();
    expect(await page.getByRole("button", { name: "Approve…" }).count()).toBe(0);
  });
});

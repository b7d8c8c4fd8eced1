import type { FastifyInstance } from "fastify";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { certificates, connections } from "../../../src/northbound/web/api/gateway.ts";
import { type Tag, tags } from "../../../src/northbound/web/api/tag.ts";
import { describePages } from "./page-harness.ts";

const at = "2026-01-02T03:04:05.000Z";
const broker = "mqtts://broker-of-hall-2.packaging.plant.example.com:8883";
const server = "opc.tcp://server-of-hall-2.packaging.plant.example.com:4840";
const topic = "fleetgate/plant-of-the-north/robots/cart-1/conveyors/1/loaded-and-rolling";
const node = "ns=2;s=Robots.cart-of-the-north-1.MissionSlotOfTheStation.AcceptedId";

const facts = connections.parse({
  count: 1,
  next: null,
  connections: [
    {
      ...{ name: "mqtt", state: "down", since: at, figures: {}, peer_count: 1 },
      detail: `connected to ${broker} instead of ${server}: no answer`,
      peers: [
        { kind: "broker", name: broker, client: "", address: broker, state: "lost", since: null, detail: "" },
      ],
    },
  ],
  queues: [],
  disk: { path: "/var/lib/fleetgate", free_bytes: 1, detail: "" },
  expiries: [],
});
const listed = certificates.parse({
  count: 1,
  next: null,
  why_not: "",
  certificates: [
    {
      ...{ thumbprint: "3f2a9c0123456789012345678901234567890123", state: "waiting", since: at },
      ...{ subject: "CN=scada", issuer: "CN=scada", ca: false, configured: false, warnings: [] },
      ...{ application_uri: "urn:scada-of-hall-2.packaging.plant:client", valid_from: at, valid_to: at },
    },
  ],
});
const tag: Tag = {
  ...{ protocol: "mqtt", address: topic, robot_id: "cart-1", station: null, type: "text", value: "true" },
  ...{ clipped: false, quality: "good", status: null, source_time: at, received_at: at, age_ms: 10 },
  ...{ description: null, unit: null, meaning: null, equivalents: [node] },
};

/** The beginnings of lines within each address: what stands before the break, and after it. */
const breaks = (page: Page, address: string) =>
  page.evaluate<readonly string[]>(`(() => {
    const address = ${JSON.stringify(address)};
    const texts = [...document.querySelectorAll("main *")].filter((element) =>
      element.checkVisibility() && element.closest(".unseen") === null && element.textContent.includes(address)
      && ![...element.children].some((child) => child.textContent.includes(address)));
    return texts.flatMap((element) => {
      const letters = [];
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const { currentNode: node } = walker;
        for (let at = 0; at < node.length; at += 1) {
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          letters.push({ letter: node.data[at], top: range.getBoundingClientRect().top });
        }
      }
      const begin = letters.map(({ letter }) => letter).join("").indexOf(address);
      return letters.slice(begin, begin + address.length).flatMap(({ letter, top }, at, all) =>
        at > 0 && top > all[at - 1].top + 4 ? [all[at - 1].letter + "|" + letter] : []);
    });
  })()`);

describePages("an address", (pages) => {
  const addRoutes = (api: FastifyInstance) => {
    api.get("/api/v1/connections", async () => facts);
    api.get("/api/v1/certificates", async () => listed);
    api.get("/api/v1/tags", async () => tags.parse({ count: 1, next: null, tags: [tag], missing_robots: 0 }));
  };

  it.each([
    ["/connections", [broker, server, "urn:scada-of-hall-2.packaging.plant:client"]],
    ["/tags", [topic]],
    [`/tags/mqtt/${encodeURIComponent(topic)}`, [topic, node]],
  ])("on %s is broken after a slash, a colon or the folder of a node", async (path, addresses) => {
    const { page } = await pages.open(path, { addRoutes, viewport: { width: 390, height: 800 } });
    const found: string[] = [];
    for (const width of [390, 700, 1_000]) {
      await page.setViewportSize({ width, height: 800 });
      for (const address of addresses) {
        await page.getByText(address).first().waitFor();
        found.push(...(await breaks(page, address)));
      }
    }
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((each) => !/^[/:;.]\|/.test(each))).toEqual([]);
    const widths = "[document.documentElement.scrollWidth, innerWidth]";
    await page.setViewportSize({ width: 390, height: 800 });
    const [whole = 0, seen = 0] = await page.evaluate<readonly number[]>(widths);
    expect(whole).toBeLessThanOrEqual(seen);
  });
});

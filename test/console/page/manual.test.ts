import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { alarmRules } from "../../../src/domain/alarm.ts";
import { flatBattery, lostCommand } from "../busy-fleet.ts";
import { describePages } from "./page-harness.ts";

const folder = fileURLToPath(new URL("../../../dist/console/docs", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const pages = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith(".html"))
    .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
);

describe("the pages of the manual", () => {
  it("are those of docs, without the internals", () => {
    const names = readdirSync("docs").filter((name) => name.endsWith(".md"));
    const wanted = [...names.map((name) => name.replace(/md$/, "html"))];
    expect([...pages.keys()].sort()).toEqual(
      [...wanted, "changelog.html", "index.html", "security.html"].sort(),
    );
  });

  it("have links only to what is there", () => {
    const files = new Set(readdirSync(folder, { recursive: true }).map(String));
    const links = [...pages].flatMap(([page, html]) =>
      Array.from(html.matchAll(/(?:href|src)="([^"]*)"/g), ([, link = ""]) => ({ page, link })),
    );
    expect(links.length).toBeGreaterThan(200);
    const dead = links.filter(({ page, link }) => {
      if (/^(https?:|mailto:)/.test(link) || link.startsWith("../")) return false;
      const [path = "", anchor] = link.split("#");
      const file = path === "" ? page : path.replace(/^\.\//, "");
      return !files.has(file) || (anchor !== undefined && !pages.get(file)?.includes(`id="${anchor}"`));
    });
    expect(dead).toEqual([]);
  });

  it("have nothing inline that the policy refuses, and load nothing of another host", () => {
    for (const [page, html] of pages) {
      const inline = html.match(
        /<script(?![^>]* src=)|<style|<[^>]+ (?:style|on\w+)=|src="(?:https?:)?\/\/[^"]*/g,
      );
      expect([page, inline]).toEqual([page, null]);
    }
  });

  it("have a paragraph for each alarm, and one for the codes, where the console leads to", () => {
    for (const code of Object.keys(alarmRules))
      expect(pages.get("alarms.html")).toContain(`id="${code.toLowerCase()}"`);
    expect(pages.get("commands.html")).toContain('id="codes"');
  });
});

describePages("the manual in a browser", (harness) => {
  /** Opens an address of a gateway; asks for nothing of another host. */
  async function open(path: string) {
    const gateway = await harness.openGateway();
    const asked: string[] = [];
    const before = (page: Page) => page.on("request", (request) => void asked.push(request.url()));
    const { page } = await harness.openPage(`${gateway.url}${path}`, { before });
    harness.closeAfter(async () => expect(asked.filter((url) => !url.startsWith(gateway.url))).toEqual([]));
    return { page, asked, url: gateway.url };
  }

  const isAtTop = (page: Page, id: string) =>
    page.evaluate<boolean>(`(() => {
      const { top } = document.getElementById(${JSON.stringify(id)}).getBoundingClientRect();
      return location.hash === ${JSON.stringify(`#${id}`)} && top >= 0 && top < innerHeight;
    })()`);

  it("finds a word, and leads to its heading", async () => {
    const { page, asked, url } = await open("/docs/");
    expect(await page.title()).toBe("The manual – Fleetgate");
    expect(asked.some((each) => each.endsWith("search.json"))).toBe(false);
    await page.keyboard.press("/");
    await page.keyboard.type("PERMISSION_DENIED");
    const hits = page.locator(".found a");
    const hit = hits.filter({ has: page.locator("strong", { hasText: /^Codes$/ }) }).first();
    await hit.waitFor();
    expect(await hit.locator("mark").count()).toBeGreaterThan(0);
    await hit.click();
    await page.waitForURL(`${url}/docs/commands.html#codes`);
    await expect.poll(() => isAtTop(page, "codes")).toBe(true);
  });

  it("shows first what has the words as they were typed, and understands a sentence", async () => {
    const { page } = await open("/docs/");
    const field = page.getByRole("searchbox");
    const first = page.locator(".found a").first();
    await field.fill("NO_LEASE");
    await expect.poll(() => first.textContent()).toContain("NO_LEASE");
    await field.fill("how could somebody make a backup");
    await expect.poll(() => first.textContent()).toMatch(/backup/i);
  });

  it("is searched by the keyboard alone", async () => {
    const { page } = await open("/docs/commands.html");
    await page.keyboard.press("/");
    await page.keyboard.type("nosuchwordanywhere");
    await page.getByText("Nothing found.").waitFor();
    await page.getByRole("searchbox").fill("conveyor");
    await page.getByText(/^\d+ found$/).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const second = await page.locator(".found a").nth(1).getAttribute("href");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain(second);
  });

  it.each([
    { width: 1_440, height: 900, colorScheme: "light" },
    { width: 390, height: 844, colorScheme: "dark" },
  ] as const)("has nothing that axe objects to, $width pixels wide, $colorScheme", async (look) => {
    const { width, height, colorScheme } = look;
    const gateway = await harness.openGateway();
    const found: string[] = [];
    for (const name of ["index.html", "commands.html", "console.html"]) {
      const options = { viewport: { width, height }, colorScheme };
      const { page } = await harness.openPage(`${gateway.url}/docs/${name}`, options);
      await page.evaluate(axe);
      const violations = await page.evaluate<readonly string[]>(
        `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + " " + target)))`,
      );
      found.push(...violations.map((each) => `${name}: ${each}`));
      expect([name, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([name, width]);
    }
    expect(found).toEqual([]);
  });

  it("is where the console leads to: from the navigation, an alarm and a code", async () => {
    const prepare = (gateway: { alarms: unknown[]; commands: unknown[] }) => {
      gateway.alarms = [flatBattery];
      gateway.commands = [lostCommand];
    };
    const { page, gateway } = await harness.open("/alarms", { prepare: prepare as never });
    await page.getByRole("link", { name: "Manual", exact: true }).click();
    await page.waitForURL(`${gateway.url}/docs/`);
    await page.goBack();
    await page.getByRole("link", { name: "More in the manual" }).first().click();
    await page.waitForURL(`${gateway.url}/docs/alarms.html#${flatBattery.code.toLowerCase()}`);
    await expect.poll(() => isAtTop(page, flatBattery.code.toLowerCase())).toBe(true);
    await page.goto(`${gateway.url}/commands/${encodeURIComponent("opcua:line1/r1")}`);
    await page.getByRole("link", { name: "What the codes mean" }).click();
    await page.waitForURL(`${gateway.url}/docs/commands.html#codes`);
  });
});

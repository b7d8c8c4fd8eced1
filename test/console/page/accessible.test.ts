import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { busyRobot, flatBattery, lostCommand } from "../busy-fleet.ts";
import { standingRobot } from "../standing-robot.ts";
import { watchForErrors } from "./browser.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages, isLive, type PageOptions } from "./page-harness.ts";

const require = createRequire(import.meta.url);
/** As a browser loads it: it looks for what keeps people from using a page. */
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const command = `/commands/${encodeURIComponent("opcua:line1/r1")}`;
/** Views that no link of the navigation names. */
const form = "/send?operation=CreateMission&robot=cart-1";
/** Without a mission, so that it may be sent somewhere. */
const free = "a".repeat(64);
const others = ["/?robot=cart-1", "/robots/cart-1", "/robots/none", command, form, "/simulator", "/nothing"];

describePages("every view", (pages) => {
  /** A page of a gateway with something to show in every view. */
  const open = (options: PageOptions = {}) => {
    const robots = [busyRobot("cart-1"), standingRobot(free)];
    const prepare = (gateway: FakeGateway) => {
      gateway.alarms = [flatBattery];
      gateway.commands = [lostCommand];
      gateway.isOpen = true;
    };
    return pages.open("/", { robots, prepare, ...options });
  };

  /** Goes to each view in turn. */
  async function eachView(page: Page, look: (path: string) => Promise<void>): Promise<void> {
    const links = page.locator("nav.rail").getByRole("link");
    const named = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
    expect(named).toContain("/commands");
    for (const path of [...named, ...others]) {
      await page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)})`);
      await page.evaluate("dispatchEvent(new PopStateEvent('popstate'))");
      await page.locator("main > *").first().waitFor();
      await look(path);
    }
  }

  async function violations(page: Page): Promise<readonly string[]> {
    // Once a page: to read it takes longer than to look.
    if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(axe);
    // A veil that comes or goes has colours between; test/console/tokens.test.ts has those that stay.
    return page.evaluate<readonly string[]>(`axe.run({ exclude: [[".veil"]] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
        id + " " + target + " " + failureSummary)))`);
  }

  /** Buttons and links of the navigation whose text is wider than they are. */
  const overfull = (page: Page) =>
    page.evaluate<readonly string[]>(`[...document.querySelectorAll("button, nav a")]
      .filter((button) => getComputedStyle(button).textOverflow !== "ellipsis")
      .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1)
      .map(({ textContent }) => textContent)`);

  const screens = [
    { width: 1_440, height: 900 },
    { width: 1_024, height: 768 },
    { width: 390, height: 844 },
  ];
  const themes = ["light", "dark"] as const;
  // Each screen in each theme and each language, and each theme in each language: a text is as long in the
  // dark, and a colour is the same in German.
  const looks = screens.flatMap((viewport, at) =>
    themes.map((theme, dark) => {
      const locale = (at + dark) % 2 === 0 ? "en-GB" : "de-DE";
      return { viewport, theme, locale, width: viewport.width };
    }),
  );

  it.each(looks)("is legible, and axe objects to nothing: $width pixels, $theme, $locale", async (look) => {
    const { viewport, theme, locale } = look;
    const { page } = await open({ viewport, colorScheme: theme, locale });
    expect(await page.evaluate("document.documentElement.lang")).toBe(locale.slice(0, 2));
    const found: string[] = [];
    await eachView(page, async (path) => {
      for (const violation of await violations(page)) found.push(`${path}: ${violation}`);
      for (const text of await overfull(page)) found.push(`${path}: wider than its button: ${text}`);
    });
    expect(found).toEqual([]);
  });

  it.each(themes)(
    "has nothing that axe objects to in a second step, or when it is not live: %s",
    async (theme) => {
      const { page, gateway } = await open({ colorScheme: theme });
      const found: string[] = [];
      const look = async (path: string) => {
        for (const violation of await violations(page)) found.push(`${path}: ${violation}`);
      };
      await page.goto(`${gateway.url}/?robot=${free}`);
      await isLive(page);
      await page.getByRole("button", { name: "Go to…" }).click();
      await page.getByRole("listbox").waitFor();
      await look("destinations");
      await page.goto(`${gateway.url}/robots/cart-1`);
      await page.getByRole("button", { name: "Cancel mission…" }).click();
      await page.getByRole("alertdialog").waitFor();
      await look("second step");
      gateway.cut(true);
      await page.getByText("✕ not live").waitFor();
      await look("not live");
      expect(found).toEqual([]);
    },
  );

  it("has a heading also while a view is being read", async () => {
    const { page, gateway } = await open();
    await page.route("**/api/v1/commands**", () => {});
    await page.goto(`${gateway.url}/commands/opcua%3Aline1%2Fnone`);
    await page.getByText("Reading the log.").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).allTextContents()).toEqual(["Command"]);
  });

  it("asks for a log-in with nothing that axe objects to", async () => {
    const { page, gateway } = await open();
    gateway.isOpen = false;
    gateway.user = null;
    await page.reload();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  // 1,280 pixels at a zoom of 400 % are 320 wide and 256 high; the others are telephones.
  it.each([
    { width: 320, height: 256, locale: "en-GB" },
    { width: 390, height: 844, locale: "en-GB" },
    { width: 390, height: 844, locale: "de-DE" },
    { width: 844, height: 390, locale: "en-GB" },
  ])("is read and used on $width × $height pixels, without scrolling sideways, $locale", async (look) => {
    const { locale, ...viewport } = look;
    const { page } = await open({ viewport, locale });
    await eachView(page, async (path) => {
      const width = await page.evaluate("document.documentElement.scrollWidth");
      expect([path, width]).toEqual([path, viewport.width]);
      expect([path, await unreachable(page)]).toEqual([path, []]);
    });
  });

  it("reaches everything by the keyboard alone, and shows where it is", async () => {
    const { page } = await open();
    // What a view has yet to read may come while the key is pressed: then once more from the beginning.
    await eachView(page, async (path) => {
      await expect.poll(() => notReached(page), { message: path }).toEqual([]);
    });
  });

  it("fails these tests when it breaks the page's policy", async () => {
    const { url } = await pages.openGateway();
    const page = await pages.browser.newPage();
    pages.closeAfter(() => page.close());
    const errors = watchForErrors(page);
    await page.goto(url);
    await isLive(page);
    for (const breach of [
      "document.body.setAttribute('style', 'color: red')",
      "{ const all = document.createElement('img'); all.src = 'http://localhost:1/x.png'; }",
      "fetch('http://localhost:1/').catch(() => {})",
      "try { document.body.innerHTML = '<p>'; } catch {}",
    ]) {
      await page.evaluate(breach);
      await expect
        .poll(() => errors.splice(0).join(), { message: breach })
        .toMatch(/Security Policy|Trusted/i);
    }
  });
});

/** Links, buttons and fields that cannot be brought to a place where a finger or a mouse hits them. */
async function unreachable(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const all = [...document.querySelectorAll("a, button, input, select, summary")];
    const found = all.filter((element) => {
      if (element.disabled || !element.checkVisibility()) return false;
      element.scrollIntoView({ block: "center", inline: "center" });
      // A link that is broken into lines has a box for each.
      const [{ left, right, top, bottom }] = element.getClientRects();
      const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return !element.contains(hit) && !hit?.contains(element.closest("label"));
    });
    scrollTo(0, 0);
    return found.map(({ outerHTML }) => outerHTML.slice(0, 120));
  })()`);
}

/** What the key Tab does not come to, or shows no outline when it does. */
async function notReached(page: Page): Promise<readonly string[]> {
  const wanted = new Set(await page.evaluate<readonly string[]>(markFocusable));
  const missing = new Set(wanted);
  for (let press = 0; press < wanted.size + 5; press += 1) {
    await page.keyboard.press("Tab");
    const [name, outline] = await page.evaluate<[string, string]>(focused);
    if (outline !== "none") missing.delete(name);
  }
  return [...missing];
}

/** Gives each focusable element a name. */
const markFocusable = `(() => {
  const all = [...document.querySelectorAll("a[href], button, input, select, [tabindex='0']")].filter(
    (element) => !element.disabled && element.checkVisibility());
  return all.map((element, at) => (element.dataset.place = at + " " + element.tagName));
})()`;

const focused = `[document.activeElement.dataset.place ?? "", getComputedStyle(document.activeElement).outlineStyle]`;

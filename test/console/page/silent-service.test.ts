import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { dock } from "../busy-fleet.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages } from "./page-harness.ts";

const moving = standingRobot("cart-1", {
  mission: oneMission({ goals: [{ destination_id: "Station A" }] }),
  idle: {
    reason: "MOVING",
    text: "",
    since: "2026-01-02T03:04:05.000Z",
    for_ms: 5_000,
    not_ready: false,
  },
});

describePages("a fleet service that is silent, and no stream has ended", (pages) => {
  async function openSilent(path: string) {
    const prepare = (gateway: FakeGateway) => {
      gateway.stations = [dock];
    };
    const opened = await pages.open(path, { robots: [moving], prepare });
    expect(await opened.page.getByRole("alert").count()).toBe(0);
    opened.gateway.silentSinceMs = Date.now();
    await banner(opened.page).waitFor();
    return opened;
  }

  it("is named after 2.5 missed polls, with the time of its last list, and leads to the connections", async () => {
    const { page, gateway } = await openSilent("/");
    await page.getByText("● live").waitFor();
    const first = await banner(page).textContent();
    const saidMs = Date.parse(`${new Date().toDateString()} ${/\d\d:\d\d:\d\d/.exec(first ?? "")?.[0]}`);
    expect(Math.abs(saidMs - (gateway.silentSinceMs ?? 0))).toBeLessThan(2_000);
    // The time is that of one moment: it must not jitter with each tick.
    expect(await page.evaluate(bannersOfTicks)).toEqual([first]);
    await banner(page).getByRole("link", { name: "Connections" }).click();
    expect(new URL(page.url()).pathname).toBe("/connections");
    gateway.silentSinceMs = null;
    await banner(page).waitFor({ state: "detached" });
  });

  it("greys places in the list, with ages that go on, and counts no robot as good", async () => {
    const { page } = await openSilent("/");
    await page.getByText("1 robot, none known to be good now").waitFor();
    const row = page.getByRole("list", { name: "Robots" }).getByRole("listitem");
    const place = row.getByText(/^at Station A \(seen \d+ s ago\)$/);
    expect(await place.getAttribute("class")).toBe("unconfirmed");
    const before = await place.textContent();
    await expect.poll(() => place.textContent()).not.toBe(before);
    await row.getByText("last: moves").waitFor();
  });

  it("leaves nothing on the robot's page that claims to be known now", async () => {
    const { page } = await openSilent("/robots/cart-1");
    await page.getByText(/^No online list for \d+ s\. Last: Moves since .* \d\d:\d\d:05\.$/).waitFor();
    await page.getByText(/^good \d+ s ago, not known now$/).waitFor();
    await page.getByText(/^at Station A, x 0\.0, y 0\.0, map Hall 1 \(seen \d+ s ago\) /).waitFor();
    await page.getByRole("heading", { name: "last: moves" }).waitFor();
    await page.getByRole("table", { name: /^Missions \(listed \d+ s ago\)$/ }).waitFor();
  });

  it("leaves nothing of a station that claims to be known now", async () => {
    const { page } = await openSilent("/stations");
    const card = page.getByRole("region", { name: "dock" });
    await card.getByText("Nothing known now. Last: cart-1 is here, and is leased.").waitFor();
    expect(await card.locator("dl").getAttribute("class")).toBe("facts unconfirmed");
    await card.getByText("last: cart-1", { exact: true }).waitFor();
    await card.getByText("last: cart-2 after 1 other goal").waitFor();
  });
});

/** The texts of the banner after each of three ticks. */
const bannersOfTicks = `new Promise((resolve) => {
  const seen = new Set();
  let left = 3;
  new MutationObserver((_, observer) => {
    requestAnimationFrame(() => {
      seen.add(document.querySelector("[role=alert]").textContent);
      left -= 1;
      if (left > 0) return;
      observer.disconnect();
      resolve([...seen]);
    });
  }).observe(document.documentElement, { attributes: true, attributeFilter: ["data-tick"] });
})`;

function banner(page: Page) {
  return page.getByRole("alert").filter({ hasText: /No online list since \d\d:\d\d:\d\d\./ });
}

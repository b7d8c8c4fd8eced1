import { expect, it } from "vitest";
import { busyRobot, flatBattery } from "../busy-fleet.ts";
import { describePages } from "./page-harness.ts";

/** What a slow network carries in a second or two. */
const MOST_BYTES = 110_000;

/** Script, style and font so far, as they came over the network. The bench measures the same. */
const loaded = `performance.getEntriesByType("resource")
  .filter(({ name }) => /\\.(js|css|woff2)$/.test(new URL(name).pathname))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`;

describePages("the first view", (pages) => {
  it.each(["en-GB", "de-DE"])("loads little in %s", async (locale) => {
    const { page } = await pages.open("/", { locale });
    await page.getByRole("listitem").first().waitFor();
    await page.waitForLoadState("load");
    expect(await page.evaluate<number>(loaded)).toBeLessThan(MOST_BYTES);
  });

  it("has the German texts of alarms from the first alarm on", async () => {
    const { page, gateway } = await pages.open("/", { locale: "de-DE", robots: [busyRobot("cart-1")] });
    const read = page.waitForRequest(/\/assets\/alarms-[^/]*\.js$/);
    const alarms = { count: 1, alarms: [flatBattery] };
    gateway.send("change", { at: "2026-01-02T03:05:05.000Z", alarms });
    await read;
    await page.getByRole("button", { name: "cart-1 in der Halle zeigen" }).click();
    await page.getByText("jetzt laden; ein leerer Roboter muss geschoben werden").waitFor();
  });
});

import { expect, it } from "vitest";
import { busyRobot, flatBattery } from "../busy-fleet.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";
import { describePages, isLive } from "./page-harness.ts";

describePages("the page in German", (pages) => {
  const open = (path: string) =>
    pages.open(path, {
      locale: "de-AT",
      robots: [busyRobot("cart-1"), standingRobot("cart-2")],
      prepare(gateway) {
        gateway.alarms = [flatBattery];
      },
    });

  it("is that of a browser that wishes it", async () => {
    const { page } = await open("/?robot=cart-2");
    const chosen = page.getByRole("region", { name: "Gewählter Roboter: cart-2" });
    await chosen.getByText(/^Steht seit \d\d:\d\d:\d\d: der Roboter hat keine Mission\.$/).waitFor();
    await chosen.getByText("81 %, entlädt").waitFor();
    await chosen.getByText("bei Station A, x 0,0, y 0,0, Karte Hall 1 (gut)").waitFor();
    await chosen.getByRole("button", { name: "cart-2 pausieren" }).waitFor();
    await chosen.getByRole("button", { name: "Sperren…" }).waitFor();
    expect(await page.title()).toBe("cart-2 – plant1");
  });

  it("says of an alarm what to do, and sends by the same second step", async () => {
    const { page, gateway } = await open("/alarms");
    await page.getByText("Batterie fast leer").first().waitFor();
    await page.getByText("Was zu tun ist: jetzt laden; ein leerer Roboter muss geschoben werden").waitFor();
    await page.getByText("Roboter unterdessen: der Roboter kann fahren, bis er leer ist.").waitFor();
    await page.goto(`${gateway.url}/robots/cart-2`);
    await page.getByRole("button", { name: "Zum Laden schicken…" }).click();
    const step = page.getByRole("alertdialog", { name: "Zum Laden schicken: zweiter Schritt" });
    await step.getByText("Wirkung: er fährt zu einem Ladegerät.").waitFor();
    await step.getByRole("button", { name: "Zum Laden schicken: cart-2" }).click();
    await expect.poll(() => gateway.asked.length).toBeGreaterThan(0);
    expect(gateway.asked[0]).toMatchObject({ body: { operation: "ChargeRobot" } });
  });

  it("says what an operation does", async () => {
    const { page } = await open("/send?operation=CreateMission&robot=cart-2");
    await page.getByText("Gibt einem Roboter, der keine Mission fährt, eine.", { exact: true }).waitFor();
  });

  it("does not ask for a resume of a mission that was just resumed", async () => {
    const { page, gateway } = await open("/robots/cart-2");
    const { idle } = standingRobot("cart-2");
    const paused = { ...idle, reason: "PAUSED", text: "its mission runs" } as const;
    const robots = [{ robot_id: "cart-2", mission: oneMission({}), idle: paused }];
    gateway.send("change", { at: idle.since, robots });
    await page.getByText(/: seine Mission läuft, in der neuesten Online-Liste ist er pausiert\.$/).waitFor();
  });

  it("has no English word below a page that hangs", async () => {
    const { page } = await open("/");
    const word = "getComputedStyle(document.querySelector('.ticking'), '::after').content";
    expect(await page.evaluate(word)).toContain("✕ nicht aktuell");
  });

  it("is left, and chosen again, by the user", async () => {
    const { page } = await open("/");
    await page.getByRole("button", { name: "This page in English" }).click();
    await page.getByText("● live").waitFor();
    await page.reload();
    await page.getByText("● live").waitFor();
    await page.getByRole("button", { name: "Diese Seite auf Deutsch" }).click();
    await isLive(page);
    expect(await page.evaluate("document.documentElement.lang")).toBe("de");
  });
});

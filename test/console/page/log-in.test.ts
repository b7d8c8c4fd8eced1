import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { type FakeGateway, PASSWORD } from "./fake-gateway.ts";
import { describePages } from "./page-harness.ts";

const charging = {
  status: 200,
  body: { id: "c", outcome: "succeeded", code: "OK", message: "", retry_safe: true, response: null },
};

describePages("a gateway with users", (pages) => {
  const open = (user: string | null) => {
    const prepare = (gateway: FakeGateway) => {
      gateway.user = user;
    };
    return pages.open("/robots/cart-1", { prepare, isLive: false });
  };

  async function logIn(page: Page, user: string, password = PASSWORD): Promise<void> {
    await page.getByLabel("User").fill(user);
    await page.getByLabel("Password").fill(password);
    await page.getByLabel("Password").press("Enter");
  }

  it("shows nothing before a log-in, and why one fails", async () => {
    const { page } = await open(null);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(await page.getByText("cart-1").count()).toBe(0);
    const focused = () => page.evaluate("document.activeElement.name");
    expect(await focused()).toBe("user");
    await logIn(page, "ann", "a-guess");
    await page.getByRole("alert").getByText("Not logged in: user or password is wrong.").waitFor();
    await expect.poll(focused).toBe("password");
    await logIn(page, "ann");
    await page.getByText("● live").waitFor();
    await page.getByText("ann (operator)").waitFor();
    await page.getByRole("heading", { name: /^cart-1/ }).waitFor();
  });

  it("says in the language of the page why one fails", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.user = null;
    };
    const { page } = await pages.open("/", { prepare, isLive: false, locale: "de-DE" });
    await page.getByLabel("Benutzer").fill("ann");
    await page.getByLabel("Passwort").fill("a-guess");
    await page.getByLabel("Passwort").press("Enter");
    await page.getByText("Nicht angemeldet: Benutzer oder Passwort ist falsch.").waitFor();
  });

  it("shows nothing after a log-out, and nothing of the user before", async () => {
    const { page, gateway } = await open("ann");
    await page.getByText("Quality").waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    expect(await page.getByText("cart-1").count()).toBe(0);
    // Until the gateway has sent something to this user there is nothing to show.
    gateway.cut(true);
    await logIn(page, "bob");
    await page.getByText("bob (operator)").waitFor();
    expect(await page.getByText("Quality").count()).toBe(0);
    gateway.cut(false);
    await page.getByText("Quality").waitFor();
  });

  it("says that a log-in has ended", async () => {
    const { page, gateway } = await open("ann");
    await page.getByText("ann (operator)").waitFor();
    gateway.user = null;
    gateway.cut(true);
    gateway.cut(false);
    await page.getByText("Your log-in has ended.").waitFor();
    expect(await page.getByText("cart-1").count()).toBe(0);
  });

  it("asks for a command in the name of its user alone, also after another has logged in", async () => {
    const { page, gateway } = await open("ann");
    await page.getByText("ann (operator)").waitFor();
    await page.getByRole("button", { name: "Send to charge…" }).click();
    await page.getByRole("button", { name: "Send to charge cart-1" }).click();
    const asked = page.getByRole("list", { name: "Asked from this browser" });
    const lost = "the gateway is not reached; this page asks again for a minute";
    await asked.getByText(`Send to charge: not known whether it was taken: ${lost}`).waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    gateway.answer = charging;
    const before = gateway.asked.length;
    await logIn(page, "bob");
    await page.getByText("bob (operator)").waitFor();
    await asked.getByText(/log in as ann to learn what became of it/).waitFor();
    expect(gateway.asked.length).toBe(before);
    await page.getByRole("button", { name: "Log out" }).click();
    await logIn(page, "ann");
    await asked.getByText(/Send to charge: taken by the fleet service$/).waitFor();
    expect(new Set(gateway.asked.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(gateway.asked).toMatchObject([...gateway.asked].map(() => ({ body: { asked_by: "ann" } })));
  });
});

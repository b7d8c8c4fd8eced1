import { describe, expect, it } from "vitest";
import { createControlHarness } from "./control-harness.ts";
import { describedRoutes } from "./described-api.ts";
import { createWebHarness } from "./web-harness.ts";

/** All that the client of the tests can send. */
const methods = ["DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT"];

/** An answer without an end, which has no head alone. */
const endless = "/stream";

/** The methods of each path under /api/v1 that a listener has. */
function takenOn(listener: "web" | "socket"): ReadonlyMap<string, readonly string[]> {
  const taken = describedRoutes(listener).map(({ path, methods }) => {
    const hasHead = methods.includes("GET") && !path.endsWith(endless);
    return [path.replace(/\{\w+\}/g, "1%2F2"), [...methods, ...(hasHead ? ["HEAD"] : [])]] as const;
  });
  return new Map(taken);
}

const refused = (path: string, allowed: readonly string[], method: string) => ({
  path,
  method,
  status: 405,
  allow: [...allowed].sort().join(", "),
  type: "application/problem+json; charset=utf-8",
});

describe("a method that an address does not take", () => {
  it("is refused with 405 and the methods that it takes, on the web listener", async () => {
    await using harness = await createWebHarness();
    const pages: ReadonlyArray<readonly [string, readonly string[]]> = [
      ["/robots/cart-1", ["GET", "HEAD"]],
      ["/livez", ["GET", "HEAD"]],
    ];
    let asked = 0;
    for (const [path, allowed] of [...takenOn("web"), ...pages]) {
      for (const method of methods.filter((each) => !allowed.includes(each))) {
        // The body is none that any address takes: the method counts first.
        const body = method === "GET" ? {} : { body: "nonsense", headers: { "content-type": "text/plain" } };
        const { status, headers } = await fetch(`${harness.url}${path}?limit=1`, { method, ...body });
        const [allow, type] = [headers.get("allow"), headers.get("content-type")];
        expect({ path, method, status, allow, type }).toEqual(refused(path, allowed, method));
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(100);
  });

  it("is refused in the same way on the control socket", async () => {
    await using harness = await createControlHarness();
    for (const [path, allowed] of takenOn("socket")) {
      const method = methods.find((each) => !allowed.includes(each)) ?? "";
      const { status, headers, body } = await harness.ask(method, path);
      const { allow, "content-type": type } = headers;
      expect({ path, method, status, allow, type }).toEqual(refused(path, allowed, method));
      expect(body).toMatchObject({ title: "Method Not Allowed", detail: expect.stringContaining(method) });
    }
  });

  it("is 404 at an address that there is not", async () => {
    await using harness = await createWebHarness();
    for (const path of ["/api/v1/robots/1/2", "/api/v1/", "/api/v1/robot", "/api/v1/robotsx"])
      expect([path, (await fetch(`${harness.url}${path}`, { method: "PUT" })).status]).toEqual([path, 404]);
  });
});

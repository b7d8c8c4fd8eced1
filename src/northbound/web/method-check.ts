import type { FastifyInstance } from "fastify";
import { sendProblem } from "./problem.ts";

interface Address {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/**
 * Refuses a method that a known address does not have, with 405 and `Allow` (RFC 9110, 15.5.6). The framework
 * alone would answer as for an unknown address. Call it before the routes are added.
 */
export function addMethodCheck(server: FastifyInstance): void {
  const addresses = new Map<string, Address>();
  server.addHook("onRoute", ({ url, method }) => {
    const known = addresses.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    addresses.set(url, known);
    for (const each of [method].flat()) known.methods.add(each);
  });
  // Before the body is read: its content does not matter.
  server.addHook("onRequest", async ({ url, method, routeOptions }, reply) => {
    if (routeOptions.url !== undefined) return;
    const [path = ""] = url.split("?", 1);
    const taken = [...addresses.values()].filter(({ pattern }) => pattern.test(path));
    const allowed = [...new Set(taken.flatMap(({ methods }) => [...methods]))].sort().join(", ");
    if (allowed === "") return;
    const detail = `this address does not take ${method}; it takes ${allowed}`;
    return sendProblem(reply.header("allow", allowed), 405, detail);
  });
}

/** Matches the paths of a route, whose parts are texts, `:parameter` or a final `*`. */
function patternOf(url: string): RegExp {
  const parts = url.split("/").map((part) => {
    if (part.startsWith(":")) return "[^/]+";
    return part === "*" ? ".*" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}$`);
}

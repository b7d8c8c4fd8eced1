import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { connectFaultOf } from "../../platform/connect-fault.ts";
import { within } from "../../platform/within.ts";
import type { Endpoint } from "./endpoints.ts";
import { ok, type Part, skipped, TRY_MS, wrong } from "./part.ts";

/** Resolves the name of one endpoint, as the gateway would. */
export async function tryName(endpoint: Endpoint, nowMs: number, signal: AbortSignal): Promise<Part> {
  const { key, host, isBehindProxy } = endpoint;
  const part = `name ${key}`;
  if (isIP(host) !== 0) return ok(part, `${host} is an address`);
  if (isBehindProxy) return skipped(part, `the proxy resolves ${host}`);
  try {
    const found = await within(signal, TRY_MS, (bounded) =>
      Promise.race([lookup(host, { all: true }), late(bounded)]),
    );
    return ok(part, `${host} is ${found.map(({ address }) => address).join(", ")}`);
  } catch (error) {
    const { what, advice } = connectFaultOf(error, endpoint, nowMs);
    return wrong(part, what, advice);
  }
}

function late(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () => reject(Object.assign(new Error("no answer"), { code: "EAI_AGAIN" }));
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

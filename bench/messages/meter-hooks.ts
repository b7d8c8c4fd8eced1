// Runs in the thread that finds modules (node:module, register).
import type { ResolveHook } from "node:module";

const METER = "/northbound/web/metrics/meter.js";

export const resolve: ResolveHook = async (specifier, context, next) => {
  const found = await next(specifier, context);
  if (!found.url.endsWith(METER)) return found;
  return { ...found, url: new URL("./no-meter.js", import.meta.url).href };
};

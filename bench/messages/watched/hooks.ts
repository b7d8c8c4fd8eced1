// Runs in the thread that finds modules (node:module, register).
import type { ResolveHook } from "node:module";

/** Modules of the gateway, and what stands in their place. */
const replacements = [
  ["/northbound/web/metrics/meter.js", "./meter.js"],
  ["/platform/recorder/recorder.js", "./recorder.js"],
] as const;

const here = new URL("./", import.meta.url).href;

export const resolve: ResolveHook = async (specifier, context, next) => {
  const found = await next(specifier, context);
  const replacement = replacements.find(([module]) => found.url.endsWith(module))?.[1];
  // What stands in a module's place asks for the module itself.
  if (replacement === undefined || context.parentURL?.startsWith(here) === true) return found;
  const url = new URL(replacement, import.meta.url);
  url.searchParams.set("original", found.url);
  return { ...found, url: url.href };
};

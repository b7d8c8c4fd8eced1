import { appendFileSync } from "node:fs";
import type { LoadHook } from "node:module";

export const load: LoadHook = (url, context, next) => {
  appendFileSync(process.env.LOADED_LIST ?? "", `${url}\n`);
  return next(url, context);
};

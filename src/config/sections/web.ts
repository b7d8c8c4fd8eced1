import { z } from "zod";
import { listen, names } from "../fields.ts";

/** `web:` health checks, metrics and the page of robots. */
export const webSection = z
  .strictObject({
    listen: listen(8080).prefault({}),
    hostnames: names(
      "Names under which it answers, besides localhost and the address at which it is reached; a proxy's too.",
    ).default([]),
  })
  .describe(
    "Health checks (/healthz, /livez, /readyz), metrics (/metrics) and a page of robots, without a login. Leave the section out to switch it off.",
  );

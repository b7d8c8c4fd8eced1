import { z } from "zod";
import { listen } from "../fields.ts";

/** `web:` the health check and the page of robots. */
export const webSection = z
  .strictObject({ listen: listen(8080).prefault({}) })
  .describe(
    "Health check (/healthz) and a page of robots, without a login. Leave the section out to switch it off.",
  );

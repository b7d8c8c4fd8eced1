import { readFileSync } from "node:fs";

/** What tests read of the OpenAPI document. */
interface DescribedApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly description?: string }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

export const describedApi: DescribedApi = JSON.parse(readFileSync("config/openapi.json", "utf8"));

/** The paths that a listener has, with their methods. The demo's are the web listener's too. */
export function describedRoutes(
  listener: "web" | "demo" | "socket",
): ReadonlyArray<{ readonly path: string; readonly methods: readonly string[] }> {
  const others = {
    web: ["On the control socket only.", "In the demo only."],
    demo: ["On the control socket only."],
    socket: ["On the web listener only.", "In the demo only."],
  }[listener];
  return Object.entries(describedApi.paths).flatMap(([path, operations]) => {
    const methods = Object.entries(operations)
      .filter(([, { description = "" }]) => !others.includes(description))
      .map(([method]) => method.toUpperCase());
    return methods.length === 0 ? [] : [{ path, methods }];
  });
}

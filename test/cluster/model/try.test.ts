import { it } from "vitest";
import { defects as d0, foundByModel, outside } from "./defects.ts";
import { explain, type Found, runOnce } from "./random-run.ts";
import { soundParts } from "./world.ts";

const defects = [...d0, ...foundByModel, outside];

import { writeFileSync } from "node:fs";

it("x", async () => {
  const n = Number(process.env.N ?? 300),
    from = Number(process.env.FROM ?? 1);
  const which = process.env.DEFECT;
  const all =
    which === undefined
      ? [{ name: "sound", ...soundParts }]
      : which === "all"
        ? defects
        : defects.filter((d) => d.name === which);
  for (const parts of all) {
    const t = performance.now();
    const kinds = new Map<string, number>();
    let first: Found | null = null;
    let count = 0;
    for (let s = from; s < from + n && (process.env.FIRST === undefined || first === null); s++) {
      const f = await runOnce(parts, s);
      if (f) {
        first ??= f;
        count += 1;
        const k = f.violation.replace(/[cr]?\d+(\.\d+)?/g, "#");
        kinds.set(k, (kinds.get(k) ?? 0) + 1);
      }
    }
    console.log(
      parts.name,
      n,
      "runs",
      ((performance.now() - t) / n).toFixed(2),
      "ms each; found",
      count,
      kinds,
      first,
    );
    if (first) writeFileSync("/tmp/model-trace.txt", await explain(parts, first));
  }
}, 3_600_000);

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Node.js options of a process whose wall clock is `aheadMs` ahead of this machine's, or behind if it is
 * negative.
 */
export async function shiftedClock(folder: string, aheadMs: number): Promise<readonly string[]> {
  const path = join(folder, "shifted-clock.mjs");
  const script = `
    const RealDate = Date, now = Date.now;
    RealDate.now = () => now() + ${aheadMs};
    globalThis.Date = new Proxy(RealDate, {
      construct: (target, args, newTarget) =>
        Reflect.construct(target, args.length === 0 ? [RealDate.now()] : args, newTarget),
      apply: () => new globalThis.Date().toString(),
    });
    RealDate.prototype.constructor = globalThis.Date;`;
  await writeFile(path, script);
  return ["--import", path];
}

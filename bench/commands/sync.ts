import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { openStore } from "../../src/platform/store.ts";
import { type Percentiles, percentiles } from "../quantile.ts";
import { pause } from "../section-run.ts";

const TIMES = 200;
const BLOCK_BYTES = 4_096;
const RECORD = { text: "x".repeat(300) };

/** What the disk asks for one write that survives. Milliseconds. */
export interface SyncCost {
  /** A block written and fdatasync, the least that any journal can do. */
  readonly disk: Percentiles;
  /** One record in the journal's own store, with nobody to share the commit with. */
  readonly store: Percentiles;
}

/**
 * Measures on the disk of `folder`: one write every `pauseMs`, for a disk that rests in between answers later
 * than one that is kept busy; 0: one after the other.
 */
export async function measureSync(folder: string, pauseMs: number): Promise<SyncCost> {
  mkdirSync(folder, { recursive: true });
  return {
    disk: await plainWrites(join(folder, "block"), pauseMs),
    store: await storeWrites(join(folder, "store"), pauseMs),
  };
}

async function plainWrites(path: string, pauseMs: number): Promise<Percentiles> {
  const file = await open(path, "w");
  try {
    const block = Buffer.alloc(BLOCK_BYTES, 1);
    return await timed(pauseMs, async (at) => {
      await file.write(block, 0, block.length, at * BLOCK_BYTES);
      await file.datasync();
    });
  } finally {
    await file.close();
  }
}

async function storeWrites(path: string, pauseMs: number): Promise<Percentiles> {
  const store = openStore(path);
  try {
    return await timed(pauseMs, (at) => store.write([{ key: `k${at}`, value: RECORD }]));
  } finally {
    await store.close();
  }
}

async function timed(pauseMs: number, write: (at: number) => Promise<void>): Promise<Percentiles> {
  const took: number[] = [];
  for (let at = 0; at < TIMES; at += 1) {
    if (pauseMs > 0) await pause(pauseMs);
    const startedMs = performance.now();
    await write(at);
    took.push(performance.now() - startedMs);
  }
  return percentiles(took);
}

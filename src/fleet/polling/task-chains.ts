import type { UpdateSink } from "../../contracts/stage.ts";
import type { TaskChain } from "../../domain/mission.ts";
import type { Clock } from "../../platform/clock.ts";
import { isJsonObject, type Json } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import { createTimeSlices } from "../../platform/loop-time.ts";
import type { IdentifierGate } from "../identifiers.ts";
import { splitList } from "../operations/split-list.ts";
import { taskChainFromJson } from "../translate/messages.ts";
import { MalformedAnswer } from "../translate/snake-record.ts";
import type { ReadOperation } from "./reader.ts";

export interface TaskChainsParts {
  readonly read: ReadOperation;
  readonly clock: Clock;
  readonly log: Log;
  readonly sink: UpdateSink;
  readonly identifiers: IdentifierGate;
  /** The chains of robots now. */
  readonly current: () => readonly number[];
}

/** Follows task chains until they are finished. */
export interface TaskChains {
  /** Follows this chain from now on. */
  follow(chainId: number): void;
  turn(): Promise<void>;
  readonly followed: number;
  /** Records of chains that could not be read, in all answers together. */
  readonly malformed: number;
}

/** Chains in one request: their numbers travel in the URL. */
const CHAINS_A_REQUEST = 100;
/** The service leaves out unknown chains; a new chain may not be known yet. */
const MOST_MISSES = 3;

/** The limit of the state: a service that invents chains must not fill the memory. */
const MOST_FOLLOWED = 10_000;

/** A chain that is not finished. */
interface Followed {
  /** How often in a row the service left it out. */
  misses: number;
  /** The service's own text at the last read. */
  words: string;
  chain: TaskChain | null;
  /** The logged reasons why it could not be read. */
  readonly complaints: Set<string>;
}

/**
 * Polls QueryTaskChain for every unfinished chain, because a finished one no longer changes. A chain with the
 * same text keeps its TaskChain, the same object: the state sees that nothing changed. A chain whose record
 * cannot be read counts as missing: it turns stale, and is followed further, because the service knows it.
 */
export function createTaskChains(parts: TaskChainsParts): TaskChains {
  const followed = new Map<number, Followed>();
  const done = new Set<number>();
  const complaints = createComplaints(parts.log);

  function finish(chainId: number): void {
    followed.delete(chainId);
    done.add(chainId);
  }

  async function query(chainIds: readonly number[]): Promise<void> {
    const text = String(await parts.read("QueryTaskChain", { taskChainIds: [...chainIds] }));
    const slices = createTimeSlices();
    const split = await splitList([text], ["taskChains", "task_chains"], slices);
    if (split === null || !isJsonObject(JSON.parse(split.rest))) {
      throw new MalformedAnswer("QueryTaskChain should answer a list of chains");
    }
    const asked = new Set(chainIds);
    const found = new Set<number>();
    let hasNameless = false;
    for (const element of split.elements) {
      await slices.next();
      const json: Json = JSON.parse(element);
      const chain = readChain(json);
      if (chain instanceof MalformedAnswer) {
        const chainId = chainIdIn(json);
        const known = chainId === null ? undefined : followed.get(chainId);
        if (known !== undefined) known.misses = 0;
        complaints.note(chainId, chain, known?.complaints);
        if (chainId === null) hasNameless = true;
        else found.add(chainId);
        continue;
      }
      if (!asked.has(chain.chainId) || found.has(chain.chainId)) {
        parts.identifiers.refuse("task_chain_id", chain.chainId, "was not asked for, or was told before");
        continue;
      }
      found.add(chain.chainId);
      if (chain.finished) finish(chain.chainId);
      parts.sink({ kind: "task_chain", atMs: parts.clock.nowMs(), chain });
    }
    // A chain that seems to be missing may be the one that does not give its number.
    if (hasNameless) return;
    for (const chainId of chainIds) if (!found.has(chainId)) miss(chainId);
  }

  function readChain(json: Json): TaskChain | MalformedAnswer {
    const words = JSON.stringify(json);
    const read = tryToRead(json);
    if (read instanceof MalformedAnswer) return read;
    const known = followed.get(read.chainId);
    if (known === undefined) return read;
    known.misses = 0;
    if (known.chain !== null && known.words === words) return known.chain;
    known.words = words;
    known.chain = read;
    return read;
  }

  function miss(chainId: number): void {
    const known = followed.get(chainId);
    if (known === undefined) return;
    known.misses += 1;
    if (known.misses >= MOST_MISSES) finish(chainId);
  }

  function follow(chainId: number): void {
    if (followed.has(chainId)) return;
    if (followed.size >= MOST_FOLLOWED) {
      parts.identifiers.refuse("task_chain_id", chainId, `is of more than ${MOST_FOLLOWED} chains under way`);
    } else {
      followed.set(chainId, { misses: 0, words: "", chain: null, complaints: new Set() });
    }
  }

  return {
    get followed() {
      return followed.size;
    },
    get malformed() {
      return complaints.count();
    },
    follow,
    async turn() {
      const current = new Set(parts.current());
      // A finished chain is kept no longer than a robot names it.
      for (const chainId of done) if (!current.has(chainId)) done.delete(chainId);
      for (const chainId of current) if (!done.has(chainId)) follow(chainId);
      const chainIds = [...followed.keys()];
      for (let from = 0; from < chainIds.length; from += CHAINS_A_REQUEST) {
        await query(chainIds.slice(from, from + CHAINS_A_REQUEST));
      }
    },
  };
}

/** Records that cannot be read: each reason for a chain is logged once. */
function createComplaints(log: Log) {
  let count = 0;
  /** For records without a chain number. There are only as many reasons as fields of the message. */
  const nameless = new Set<string>();
  return {
    count: () => count,
    note(chainId: number | null, error: MalformedAnswer, logged: Set<string> = nameless): void {
      count += 1;
      if (logged.has(error.message)) return;
      logged.add(error.message);
      log.error({ err: error, chainId }, "a chain of QueryTaskChain cannot be read");
    },
  };
}

function tryToRead(json: Json): TaskChain | MalformedAnswer {
  try {
    return taskChainFromJson(json);
  } catch (error) {
    if (error instanceof MalformedAnswer) return error;
    throw error;
  }
}

/** The chain of an unreadable record, as far as it names one. */
function chainIdIn(json: Json): number | null {
  if (!isJsonObject(json)) return null;
  const state = json.taskChainState ?? json.task_chain_state;
  const chainId = isJsonObject(state) && /^\d+$/.test(String(state.id)) ? Number(state.id) : 0;
  return chainId === 0 ? null : chainId;
}

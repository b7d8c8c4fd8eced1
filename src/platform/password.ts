import { createHash, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { createFairQueues } from "./queues.ts";

const SCHEME = "scrypt:";
const SALT_BYTES = 16;
const HASH_BYTES = 64;
const BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?";
const shape = new RegExp(`^${SCHEME}(?<salt>${BASE64}):(?<hash>${BASE64})$`);

/** Salt and hash of `scrypt:<salt base64>:<hash base64>`: 64 bytes of scrypt with Node's default cost. */
interface PasswordHash {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** A salted hash, for keeping a password without revealing it. Different each time. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await scryptHash(password, salt);
  return `${SCHEME}${salt.toString("base64")}:${hash.toString("base64")}`;
}

/** Whether a text claims to be a hash: then it is never compared as a password. */
export function isPasswordHash(text: string): boolean {
  return text.startsWith(SCHEME);
}

/** Whether a password can match the hash at all. */
export function isUsableHash(text: string): boolean {
  return readHash(text) !== null;
}

/** Hashed with where there is no hash. */
const decoySalt = randomBytes(SALT_BYTES);

/**
 * Whether a password is the one that was kept: as it is, or as its hash. An empty one never is. One hash is
 * computed in every case: the time shows neither the user nor how its password is kept.
 *
 * @param kept null: there is no such user
 */
export async function isPassword(kept: string | null, given: string | Uint8Array): Promise<boolean> {
  if (given.length === 0) return false;
  const wanted = kept === null ? null : readHash(kept);
  const hash = await scryptHash(given, wanted?.salt ?? decoySalt);
  if (wanted !== null) return timingSafeEqual(hash, wanted.hash);
  return kept !== null && !isPasswordHash(kept) && timingSafeEqual(digestOf(kept), digestOf(given));
}

/**
 * Digests have one length, so that neither the length nor the content of a password shows in the time that a
 * comparison takes.
 */
export function digestOf(password: string | Uint8Array): Buffer {
  return createHash("sha256").update(password).digest();
}

function readHash(text: string): PasswordHash | null {
  const { salt, hash } = shape.exec(text)?.groups ?? {};
  if (salt === undefined || hash === undefined) return null;
  const bytes = Buffer.from(hash, "base64");
  return bytes.length === HASH_BYTES ? { salt: Buffer.from(salt, "base64"), hash: bytes } : null;
}

function scryptHash(password: string | Uint8Array, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, (error, hash) => (error === null ? resolve(hash) : reject(error)));
  });
}

/** A password that is to be compared. */
export interface ComparedPassword {
  readonly address: string;
  /**
   * A user of the configuration; null: no such user. All unknown names count as one user, because they are
   * free to invent.
   */
  readonly user: string | null;
  /** Whether the client is still connected. */
  isThere(): boolean;
}

/** Compares passwords one after the other, in a fair order. */
export interface PasswordQueue {
  /** Runs `compare` in its turn. `busy`: it was not run, because too many waited or the client has left. */
  take<Result>(password: ComparedPassword, compare: () => Promise<Result>): Promise<Result | "busy">;
}

/** A comparison takes a core some 50 ms, so the last one in the queue waits two seconds. */
const MOST_WAITING = 40;

interface Waiting {
  isThere(): boolean;
  /** Runs the comparison in its turn; the turn ends when this resolves. */
  run(): Promise<void>;
  giveUp(): void;
}

/**
 * Users at addresses take turns. If too many wait, the oldest entry of the user and address with the most is
 * dropped. So a flood from some addresses delays another address by one turn for each of their users.
 */
export function createPasswordQueue(): PasswordQueue {
  const waiting = createFairQueues<Waiting>(MOST_WAITING);
  let isRunning = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    for (let next = waiting.next(); next !== null; next = waiting.next()) {
      if (next.isThere()) await next.run();
      else next.giveUp();
    }
    isRunning = false;
  }

  return {
    take: ({ address, user, isThere }, compare) =>
      new Promise((resolve, reject) => {
        const evicted = waiting.push(JSON.stringify([address, user]), {
          isThere,
          run: () => Promise.resolve().then(compare).then(resolve, reject),
          giveUp: () => resolve("busy"),
        });
        evicted?.item.giveUp();
        if (!isRunning) void runAll();
      }),
  };
}

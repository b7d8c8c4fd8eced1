import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { errors, jwtVerify, SignJWT } from "jose";
import type { Clock } from "../../platform/clock.ts";
import { readIfThere } from "../../platform/kept-file.ts";
import { Refusal } from "../refusal.ts";
import { writeWhole } from "../scenario/scenario.ts";
import type { Caller } from "../service/contract.ts";

/** Makes and checks the JWTs of the service. */
export interface Tokens {
  issue(caller: Caller): Promise<string>;
  /**
   * The caller, from the `Authorization` header of a request. Rejects with a Refusal UNAUTHENTICATED if it is
   * missing, malformed, expired, or not ours.
   */
  verify(authorization: string | undefined): Promise<Caller>;
  /** Every token issued until now counts as expired. */
  expireAll(): void;
}

export interface TokenOptions {
  readonly clock: Clock;
  /** Signs the tokens; the key of an earlier start keeps its tokens valid. */
  readonly signingKey: Uint8Array;
  readonly lifeMs: number;
  /** How much before their `exp` tokens expire, in milliseconds: a fault. */
  earlyMs(): number;
}

const ISSUER = "fleetgate-simulator";
const ALGORITHM = "HS256";

export function createTokens(options: TokenOptions): Tokens {
  const { clock, signingKey, lifeMs } = options;
  let serial = 0;
  let oldestSerial = 0;
  // Tokens of one process are numbered, so that those of an earlier moment differ from those of the same
  // millisecond.
  const run = crypto.randomUUID();

  async function check(token: string): Promise<Caller> {
    const nowMs = clock.nowMs() + options.earlyMs();
    const { payload } = await jwtVerify(token, signingKey, {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      requiredClaims: ["exp", "sub", "scope"],
      currentDate: new Date(nowMs),
    });
    if (payload.run === run && Number(payload.serial) < oldestSerial) throw expired();
    const { sub, scope } = payload;
    if (typeof sub !== "string" || typeof scope !== "string") throw malformed();
    return { apiKey: sub, distributor: scope };
  }

  return {
    issue(caller) {
      const nowMs = clock.nowMs();
      return new SignJWT({ scope: caller.distributor, run, serial: serial++ })
        .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
        .setIssuer(ISSUER)
        .setSubject(caller.apiKey)
        .setIssuedAt(Math.floor(nowMs / 1_000))
        .setExpirationTime(Math.floor((nowMs + lifeMs) / 1_000))
        .sign(signingKey);
    },
    async verify(authorization) {
      if (authorization === undefined || authorization === "") {
        throw new Refusal("UNAUTHENTICATED", "no token: send the header `Authorization: Bearer <JWT>`");
      }
      const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization)?.[1];
      if (token === undefined) throw malformed();
      try {
        return await check(token);
      } catch (error) {
        if (error instanceof errors.JWTExpired) throw expired();
        if (error instanceof errors.JOSEError) throw malformed();
        throw error;
      }
    },
    expireAll() {
      oldestSerial = serial;
    },
  };
}

function expired(): Refusal {
  return new Refusal("UNAUTHENTICATED", "the token is expired");
}

function malformed(): Refusal {
  return new Refusal("UNAUTHENTICATED", "the token is malformed, or not one of this service");
}

/**
 * The key that signs tokens, kept in the data folder so that tokens outlive a restart, as those of a deployed
 * service do.
 */
export async function loadSigningKey(dataDir: string): Promise<Uint8Array> {
  const file = join(dataDir, "token.key");
  const stored = Buffer.from((await readIfThere(file)) ?? "", "base64url");
  if (stored.length === 32) return stored;
  const key = randomBytes(32);
  await writeWhole(file, key.toString("base64url"), "secret");
  return key;
}

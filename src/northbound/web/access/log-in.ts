import type { Clock } from "../../../platform/clock.ts";
import { createLogOnDelays, createLogOnHold } from "../../../platform/log-on-delay.ts";
import { isPassword } from "../../../platform/password.ts";
import { createPasswordQueue } from "../../../platform/password-queue.ts";
import type { WebUser } from "../options.ts";
import type { AccessAudit } from "./access-audit.ts";

/** An attempt to log in. */
export interface LogInAttempt {
  readonly name: string;
  readonly password: string;
  readonly address: string;
  /** Whether the client is still connected. */
  isThere(): boolean;
}

export type LogInResult =
  | { readonly kind: "right"; readonly user: WebUser }
  /** The user or the password is wrong. */
  | { readonly kind: "wrong"; readonly delayMs: number }
  /** Nothing was compared. */
  | { readonly kind: "later"; readonly delayMs: number };

/** Checks attempts to log in, and delays those that follow failed ones. */
export type LogIn = (attempt: LogInAttempt) => Promise<LogInResult>;

/** After this time a client may try again if too many others were trying. */
const BUSY_MS = 1_000;

/** @param users returns the present users */
export function createLogIn(users: () => readonly WebUser[], audit: AccessAudit, clock: Clock): LogIn {
  const delays = createLogOnDelays(clock);
  const hold = createLogOnHold(delays, clock);
  const queue = createPasswordQueue();
  const find = (wanted: string) => users().find(({ name }) => name === wanted);

  async function verify({ name, password, address, isThere }: LogInAttempt): Promise<LogInResult> {
    const user = find(name);
    const whose = { address, user: user === undefined ? null : name, isThere };
    const answer = await queue.take(whose, () => isPassword(user?.password ?? null, password));
    if (answer === "busy") return { kind: "later", delayMs: BUSY_MS };
    const now = find(name);
    // A reload may have removed the user, or changed its password, meanwhile.
    if (answer && now !== undefined && now.password === user?.password) {
      delays.succeeded(name, address);
      return { kind: "right", user: now };
    }
    const { count, delayMs } = delays.failed(name, address);
    audit.failed(name, address, `wrong user or password; failed log-ins in a row: ${count}`);
    return { kind: "wrong", delayMs };
  }

  return (attempt) =>
    new Promise((resolve, reject) => {
      const { name, address } = attempt;
      hold.pass(
        { who: [name, address], isThere: () => attempt.isThere() },
        () => void verify(attempt).then(resolve, reject),
        () => resolve({ kind: "later", delayMs: Math.max(delays.waitMs(name, address), BUSY_MS) }),
      );
    });
}

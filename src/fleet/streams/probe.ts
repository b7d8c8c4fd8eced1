import type { StreamPool } from "../channels/stream-pool.ts";
import type { Session } from "../session/session.ts";
import { CannotAsk } from "./refused.ts";
import { openStream, type StreamRequest } from "./stream-call.ts";
import { isRefusal } from "./stream-ending.ts";

/**
 * Finds out whether the service accepts a subscription, without using it. A server that has nothing to send
 * may stay silent: that is no refusal. Rejects with CannotAsk if the stream ended for another reason.
 */
export async function probeStream(
  request: StreamRequest,
  pool: StreamPool,
  session: Session,
  waitMs: number,
  signal: AbortSignal,
): Promise<{ readonly refused: boolean; readonly message: string }> {
  const jwt = await session.authorized(signal);
  const permit = jwt === null ? null : await pool.acquire({ leaving() {}, silent() {} }, signal);
  if (jwt === null || permit === null) throw new CannotAsk("the gateway stops");
  const call = openStream(request, jwt, permit, () => {});
  const timer = setTimeout(() => call.cancel(), waitMs);
  const accepted = await call.accepted;
  call.cancel();
  clearTimeout(timer);
  const ending = await call.ended;
  if (accepted || ending.code === "CANCELLED") return { refused: false, message: "" };
  if (isRefusal(ending)) return { refused: true, message: `${ending.code}: ${ending.message}` };
  throw new CannotAsk(`${ending.code}: ${ending.message}`);
}

import type { Box } from "./box.ts";

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Asks a box by its control socket. Null: it is away, or paused. Nothing is known. */
export async function request(
  box: Pick<Box, "pool">,
  method: "GET" | "PUT" | "POST",
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: object,
): Promise<Answer | null> {
  try {
    const answer = await box.pool.request({
      method,
      path: `/api/v1/${path}`,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as Answer["body"] };
  } catch {
    return null;
  }
}

import { request } from "node:https";

/** What a test's HTTPS request got. */
export interface HttpsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body. Throws when it is no JSON. */
  json(): unknown;
}

export interface HttpsRequest {
  readonly url: string;
  /** The certificate to trust, PEM. */
  readonly ca: Buffer;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; anything but text and bytes as JSON. */
  readonly body?: unknown;
}

/** One HTTPS request of a test, on a connection of its own. */
export function https({ url, ca, method = "GET", headers = {}, body }: HttpsRequest): Promise<HttpsAnswer> {
  const bytes =
    body === undefined || typeof body === "string" || body instanceof Uint8Array
      ? body
      : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, ca, agent: false, headers: { ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: () => JSON.parse(text),
        });
      });
    });
    sent.on("error", reject);
    if (bytes !== undefined) {
      sent.setHeader("content-type", "application/json");
      sent.setHeader("content-length", Buffer.byteLength(bytes));
      sent.write(bytes);
    }
    sent.end();
  });
}

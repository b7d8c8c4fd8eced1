import { readFileSync } from "node:fs";
import { Agent, fetch } from "undici";

/** Exchanges an API key document for a token, as every client of the service must. */
export async function exchangeToken(https: string, ca: Buffer, credentials: string): Promise<string> {
  const agent = new Agent({ connect: { ca } });
  try {
    const response = await fetch(`${https}/authorizeApiAccess`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: readFileSync(credentials),
      dispatcher: agent,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the exchange answered ${response.status}: ${text}`);
    return text;
  } finally {
    await agent.close();
  }
}

import { once } from "node:events";
import { createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { describePages } from "./page-harness.ts";

describePages("behind a reverse proxy that serves the console below a path", (harness) => {
  it("the page says in a sentence what is wrong, and is silent about it elsewhere", async () => {
    const gateway = await harness.openGateway();
    const proxy = createServer((request, response) => {
      const path = /^\/fleetgate(?<inner>\/.*)/.exec(request.url ?? "")?.groups?.inner;
      if (path === undefined) return void response.writeHead(404).end();
      const { host } = new URL(gateway.url);
      sendRequest(`${gateway.url}${path}`, { headers: { ...request.headers, host } }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }).end();
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    harness.closeAfter(async () => void proxy.close().closeAllConnections());

    const { port } = proxy.address() as AddressInfo;
    const below = await harness.openPage(`http://127.0.0.1:${port}/fleetgate/`);
    const sentence = /must be at the root of a host name/;
    await below.page.getByText(sentence).waitFor();

    const { page } = await harness.open();
    expect(await page.getByText(sentence).isVisible()).toBe(false);
  });
});

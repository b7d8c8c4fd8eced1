import { expect, it } from "vitest";
import { hideSecrets, hideSecretsIn } from "../../../src/platform/crash/hide-secrets.ts";

it.each([
  ['{"password":"s3same"}', '{"password":"(hidden)"}'],
  ['{\\"apiKey\\":\\"s3same\\",\\"a\\":1}', '{\\"apiKey\\":\\"(hidden)\\",\\"a\\":1}'],
  ["client_secret=s3same&x=1", "client_secret=(hidden)"],
  ['{"access_token": "s3same"} token=s3same', '{"access_token": "(hidden)"} token=(hidden)'],
  ["authorization: Bearer s3same", "authorization: (hidden) (hidden)"],
  ["Basic czNzYW1l failed", "Basic (hidden) failed"],
  ["mqtts://me:s3same@broker:8883", "mqtts://(hidden)@broker:8883"],
  ["a -----BEGIN EC PRIVATE KEY-----\ns3same\n-----END EC PRIVATE KEY----- b", "a (hidden) b"],
  ["jwt eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9.", "jwt (hidden)"],
])("hides what looks like a secret: %s", (text, hidden) => {
  expect(hideSecrets(text, [])).toBe(hidden);
});

it("hides the secrets that it is told, as JSON has them too, and no short ones", () => {
  expect(hideSecrets('it said open"sesame, and open\\"sesame; on', ['open"sesame', "on"])).toBe(
    "it said (hidden), and (hidden); on",
  );
  expect(hideSecretsIn({ log: ["a sesame"], n: 1, no: null }, ["sesame"])).toEqual({
    log: ["a (hidden)"],
    n: 1,
    no: null,
  });
});

it("hides the whole of a secret that begins as another one does", () => {
  expect(hideSecrets("a sesame2 b", ["sesame", "sesame2"])).toBe("a (hidden) b");
});

it("leaves alone what people have to read", () => {
  const text = '{"part":"fleet","msg":"a token has been obtained","cause":"no token: nothing listens there"}';
  expect(hideSecrets(text, [])).toBe(text);
});

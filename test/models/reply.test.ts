import { expect, test } from "vitest";
import { ending, type Outcome } from "../../src/domain/outcome.ts";
import { replyJson, replyModel } from "../../src/models/reply.ts";

const done: Outcome = ending("succeeded", "OK", "", false);

test("an outcome is told with every field, the service's answer as it came", () => {
  const text = replyJson("c1", { ...done, responseJson: '{"mission_id":"m1"}', duplicate: true });
  expect(text).toBe(
    '{"id":"c1","outcome":"succeeded","code":"OK","message":"","retry_safe":false,"response":{"mission_id":"m1"},"duplicate":true}',
  );
  expect(replyJson(null, done)).toBe(
    '{"id":null,"outcome":"succeeded","code":"OK","message":"","retry_safe":false,"response":null,"duplicate":false}',
  );
});

test("an inferred outcome gives its evidence", () => {
  const text = replyJson('"id"', { ...done, outcome: "probably_succeeded", evidence: 'message "7"' });
  expect(replyModel.parse(JSON.parse(text))).toMatchObject({
    id: '"id"',
    outcome: "probably_succeeded",
    evidence: 'message "7"',
  });
});

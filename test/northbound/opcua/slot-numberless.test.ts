import { afterEach, beforeEach, expect, it } from "vitest";
import { succeeded } from "./fake-commands.ts";
import { openSlotReaders, type SlotReader, type SlotReaders } from "./slot-readers-harness.ts";

/** Two users without `opcua.users.<name>.number`, and one with a number, at one slot. */
let slots: SlotReaders;
let ann: SlotReader;
let ben: SlotReader;
let line1: SlotReader;

beforeEach(async () => {
  slots = await openSlotReaders({ ann: null, ben: null, line1: 11 });
  ann = await slots.logOn("ann");
  ben = await slots.logOn("ben");
  line1 = await slots.logOn("line1");
});
afterEach(() => slots.close());

const NAVIGATE = [1, 1] as const;
const CANCEL = [10] as const;
const nextId = (reader: SlotReader) => reader.nextId();

it("two users without a number write one NextId at once: only one of them can take the command for its own", async () => {
  const number = await nextId(ann);
  await Promise.all([ann.command(number, ...NAVIGATE), ben.command(number, ...NAVIGATE)]);
  const sent = await slots.commander.next();
  sent.stage("accepted");
  const [own, other] = sent.command.source.name === "ann" ? [ann, ben] : [ben, ann];
  for (const reader of [own, other]) await reader.sees("the command", ([accepted]) => accepted === number);
  // The numbers stay as they were for the command's own user, and for a user that has one.
  const shown = await Promise.all(
    [own, other, line1].flatMap((each) => [each.answer(), each.acceptedByNo()]),
  );
  expect(shown.map((each) => (typeof each === "number" ? each : each[8]))).toEqual([0, 0, -1, -1, -1, -1]);
  expect(own.seen.at(-1)?.[8]).toBe(0);
  expect(other.seen.at(-1)?.[8]).toBe(-1);
  await other.seesAcceptedByNo(-1);
  sent.end(succeeded("m-1"));
  await other.sees("its end", ([, done]) => done === number);
  expect(slots.commander.submitted).toHaveLength(1);
  expect(own.seen.every((answer) => answer[8] === 0)).toBe(true);
  expect(other.seen.filter(([accepted]) => accepted === number).every((answer) => answer[8] === -1)).toBe(
    true,
  );
});

it("a user's number is shown to everybody, as before", async () => {
  const number = await nextId(line1);
  await line1.command(number, ...NAVIGATE);
  (await slots.commander.next()).end(succeeded("m-1"));
  for (const reader of [ann, line1]) {
    const answer = await reader.sees("the end", ([, done]) => done === number);
    expect(answer[8]).toBe(11);
    expect(await reader.acceptedByNo()).toBe(11);
  }
});

it("a start beside another user's command is refused by its own code, if neither has a number; a stop is taken", async () => {
  const number = await nextId(ann);
  await ann.command(number, ...NAVIGATE);
  const sent = await slots.commander.next();
  sent.stage("accepted");
  // The same number, which is taken already.
  await ben.command(number, ...NAVIGATE);
  expect((await ben.answer()).slice(5, 7)).toEqual([number, 1026]);
  const next = await nextId(ben);
  await ben.command(next, ...NAVIGATE);
  const refused = await ben.answer();
  expect(refused.slice(5, 7)).toEqual([next, 1026]);
  expect(refused.slice(12)).toContain(next);
  expect(await ben.rejectedText()).toBe(
    "the command of another user without a number was in the slot, and nothing was sent: give each user of the slot its opcua.users.<name>.number",
  );
  // A user that has a number is told as before that the slot is in use.
  const third = await nextId(line1);
  await line1.command(third, ...NAVIGATE);
  expect((await line1.answer()).slice(5, 7)).toEqual([third, 1013]);
  expect(slots.commander.submitted).toHaveLength(1);

  const fourth = await nextId(ben);
  await ben.command(fourth, ...CANCEL);
  const stop = await slots.commander.next();
  expect(stop.command).toMatchObject({ operation: "UpdateMission", source: { name: "ben" } });
});

it("a client that connects again has its own command still, beside the session that it lost", async () => {
  const number = await nextId(ann);
  await ann.command(number, ...NAVIGATE);
  const sent = await slots.commander.next();
  sent.stage("accepted");
  const again = await slots.logOn("ann");
  const answer = await again.sees("the command", ([accepted]) => accepted === number);
  expect(answer[8]).toBe(0);
  await again.command(number, ...NAVIGATE);
  const next = await nextId(again);
  await again.command(next, ...NAVIGATE);
  expect((await again.answer()).slice(5, 7)).toEqual([next, 1013]);
  sent.end(succeeded("m-1"));
  await again.sees("its end", ([, done]) => done === number);
  await again.command(await nextId(again), ...NAVIGATE);
  expect((await slots.commander.next()).command.source.name).toBe("ann");
});

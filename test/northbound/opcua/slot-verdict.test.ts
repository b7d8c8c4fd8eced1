import { afterEach, beforeEach, expect, it } from "vitest";
import { verdictNumbers } from "../../../src/domain/ticket-numbers.ts";
import { succeeded } from "./fake-commands.ts";
import { openSlotReaders, type SlotReader, type SlotReaders } from "./slot-readers-harness.ts";

/** `Answer[9..11]`: the number that the reading user wrote last, its verdict, and its outcome. */
const verdictOf = (answer: readonly number[]) => answer.slice(9, 12);
const { open, under_way, ended, never_sent, look_first } = verdictNumbers;
const NAVIGATE = [1, 1] as const;
const CANCEL = [10] as const;
const [SENT, SUCCEEDED] = [2, 3];

let slots: SlotReaders;
let line1: SlotReader;
let line2: SlotReader;

beforeEach(async () => {
  slots = await openSlotReaders({ line1: 11, line2: null });
  line1 = await slots.logOn("line1");
  line2 = await slots.logOn("line2");
});
afterEach(() => slots.close());

/** What both a Read and the monitored item show in the end. */
async function seesVerdict(reader: SlotReader, ...verdict: readonly number[]): Promise<void> {
  await reader.sees(`verdict ${verdict.join()}`, (answer) => `${verdictOf(answer)}` === `${verdict}`);
  expect(verdictOf(await reader.answer())).toEqual(verdict);
  expect(await reader.verdict()).toEqual(verdict);
}

it("two users write one number at once: each sees its own verdict, read and monitored", async () => {
  const number = await line1.nextId();
  await Promise.all([line1.command(number, ...NAVIGATE), line2.command(number, ...NAVIGATE)]);
  const sent = await slots.commander.next();
  const [own, other] = sent.command.source.name === "line1" ? [line1, line2] : [line2, line1];
  await seesVerdict(own, number, open, 0);
  await seesVerdict(other, number, never_sent, 0);
  sent.stage("sent");
  await seesVerdict(own, number, under_way, SENT);
  const shown = await Promise.all([own, other, own, other].map((each) => each.answer()));
  expect(shown.map((answer) => verdictOf(answer)[1])).toEqual([under_way, never_sent, under_way, never_sent]);
  sent.end(succeeded("m-1"));
  await seesVerdict(own, number, ended, SUCCEEDED);
  await seesVerdict(other, number, never_sent, 0);
  const wrong = other.seen.map(verdictOf).filter(([, verdict]) => verdict === under_way || verdict === ended);
  expect(wrong).toEqual([]);
  expect(own.seen.map(verdictOf).filter(([, verdict]) => verdict === never_sent)).toEqual([]);
});

it("every session of a user sees the same, also one that comes later", async () => {
  const number = await line1.nextId();
  const before = await slots.logOn("line1");
  await line1.command(number, ...NAVIGATE);
  const sent = await slots.commander.next();
  sent.stage("sent");
  const later = await slots.logOn("line1");
  for (const session of [line1, before, later]) await seesVerdict(session, number, under_way, SENT);
  sent.end(succeeded("m-1"));
  for (const session of [line1, before, later]) await seesVerdict(session, number, ended, SUCCEEDED);
  expect(verdictOf(await line2.answer())).toEqual([0, 0, 0]);
});

it("-my is answered: never sent, ended, or look first", async () => {
  const unused = await line1.nextId();
  await line1.command(-unused);
  await seesVerdict(line1, unused, never_sent, 0);
  // What comes late of an earlier write starts nothing.
  await line1.command(unused, ...NAVIGATE);
  await seesVerdict(line1, unused, never_sent, 0);
  expect(slots.commander.submitted).toHaveLength(0);

  const used = await line1.nextId();
  await line1.command(used, ...NAVIGATE);
  (await slots.commander.next()).end(succeeded("m-1"));
  await line1.command(-used);
  await seesVerdict(line1, used, ended, SUCCEEDED);
  await line1.command(-(used + 100));
  await seesVerdict(line1, used + 100, look_first, 0);
});

it("a number that rotated away, or that another user closed, was never sent", async () => {
  const old = await line1.nextId();
  slots.clock.advance(31_000);
  await line1.command(old, ...NAVIGATE);
  await seesVerdict(line1, old, never_sent, 0);
  const closed = await line1.nextId();
  await line2.command(-closed);
  await line1.command(closed, ...NAVIGATE);
  await seesVerdict(line1, closed, never_sent, 0);
  await seesVerdict(line2, closed, never_sent, 0);
});

it("a stop is answered in the same way, and what it displaces is to be looked at", async () => {
  const number = await line1.nextId();
  await line1.command(number, ...NAVIGATE);
  const mission = await slots.commander.next();
  mission.stage("sent");
  await seesVerdict(line1, number, under_way, SENT);
  const stopping = await line2.nextId();
  await line2.command(stopping, ...CANCEL);
  const stop = await slots.commander.next();
  stop.stage("sent");
  await seesVerdict(line2, stopping, under_way, SENT);
  await seesVerdict(line1, number, look_first, 0);
  stop.end(succeeded("m-1"));
  await seesVerdict(line2, stopping, ended, SUCCEEDED);
});

it("after a restart of the gateway -my has the verdict of before", async () => {
  const number = await line1.nextId();
  await line1.command(number, ...NAVIGATE);
  (await slots.commander.next()).end(succeeded("m-1"));
  await seesVerdict(line1, number, ended, SUCCEEDED);
  await slots.restart();
  line1 = await slots.logOn("line1");
  expect(verdictOf(await line1.answer())).toEqual([0, 0, 0]);
  await line1.command(-number);
  await seesVerdict(line1, number, ended, SUCCEEDED);
  line2 = await slots.logOn("line2");
  await line2.command(-number);
  await seesVerdict(line2, number, never_sent, 0);
});

it("a session that gets another user sees that user's verdict, read and monitored", async () => {
  const number = await line1.nextId();
  await line1.command(number, ...NAVIGATE);
  (await slots.commander.next()).stage("sent");
  await seesVerdict(line1, number, under_way, SENT);
  await line2.command(-number);
  await line1.becomes("line2");
  await seesVerdict(line1, number, never_sent, 0);
});

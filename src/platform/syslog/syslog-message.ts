/** One message for syslog, before its header is made. */
export interface SyslogMessage {
  /** Wall time, as ISO 8601 in UTC. */
  readonly at: string;
  readonly severity: keyof typeof severities;
  /** What kind of message it is: printable ASCII without spaces, at most 32 characters. */
  readonly id: string;
  /** Shown as structured data, in this order. */
  readonly fields: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Who sends: the same in each message. */
export interface SyslogOrigin {
  readonly host: string;
  readonly app: string;
  readonly pid: number;
}

/** RFC 5424, table 2. */
const severities = { warning: 4, notice: 5 } as const;
/** RFC 5424, table 1: log audit. */
const FACILITY = 13;
/**
 * Vendors without a number of their own have none to give. This one is kept for examples (RFC 5612), so it
 * names nobody else.
 */
const ENTERPRISE = 32_473;
/** The largest that a sequence may be (RFC 5424, 7.3.1). */
const LAST_SEQUENCE = 2_147_483_647;
/** What of a field is shown, in UTF-16 units. */
const LONGEST_FIELD = 256;

/**
 * A message of RFC 5424. `sequence` counts from 1, lost messages included, so that a reader sees a gap.
 */
export function syslogLine(message: SyslogMessage, origin: SyslogOrigin, sequence: number): string {
  const { at, severity, id, fields, text } = message;
  const head = [
    `<${FACILITY * 8 + severities[severity]}>1`,
    at,
    headerText(origin.host, 255),
    headerText(origin.app, 48),
    headerText(String(origin.pid), 128),
    headerText(id, 32),
  ].join(" ");
  const meta = `[meta sequenceId="${((sequence - 1) % LAST_SEQUENCE) + 1}"]`;
  const data = Object.entries(fields).map(([name, value]) => ` ${name}="${parameter(value)}"`);
  return `${head} ${meta}[${origin.app}@${ENTERPRISE}${data.join("")}] ${text}`;
}

/** A line for systemd's journal, with its priority in front (`man sd-daemon`). */
export function journalLine({ severity, text }: SyslogMessage): string {
  return `<${severities[severity]}>${text}`;
}

/** Printable ASCII without spaces; `-`, which stands for nothing, where none is left. */
function headerText(text: string, longest: number): string {
  const clean = text.replace(/[^!-~]/g, "").slice(0, longest);
  return clean === "" ? "-" : clean;
}

/**
 * Quotes, backslashes and closing brackets have a backslash before them (RFC 5424, 6.3.3). A control
 * character or half of a surrogate pair is no text that a log may hold.
 */
function parameter(value: string): string {
  return Buffer.from(value.slice(0, LONGEST_FIELD))
    .toString()
    .replace(/[\p{Cc}\u2028\u2029]/gu, "\ufffd")
    .replace(/["\\\]]/g, "\\$&");
}

import { quantile } from "../quantile.ts";
import { row } from "../report.ts";
import type { BlockResult, Side } from "./protocol.ts";

/** One block with what the measured process cost. */
export interface Measured {
  readonly kind: "paced" | "saturated";
  readonly side: Side;
  readonly result: BlockResult;
  readonly cpuMicros: number;
  /** From its first message to its last sighting. */
  readonly wallSeconds: number;
  readonly rssAnonMb: number;
}

/** The figures of one side: medians over its blocks. */
export interface SideFigures {
  readonly cpuMicrosPerMessage: number;
  readonly messagesPerSecond: number;
  /** Share of a core that it used at full speed: below 1, something else was the limit. */
  readonly busyAtFullSpeed: number;
  readonly mqttP50Ms: number;
  readonly mqttP99Ms: number;
  readonly opcuaP50Ms: number;
  readonly opcuaP99Ms: number;
  readonly rssAnonMb: number;
  /** Share of a core while nothing moved, in percent. */
  readonly idlePercent: number;
}

export interface MessageFigures {
  readonly robots: number;
  readonly blocks: number;
  readonly messages: number;
  readonly missing: number;
  /** Of the sides that were compared, in the order of the table. */
  readonly sides: Readonly<Partial<Record<Side, SideFigures>>>;
}

/** Gateway ÷ floor. */
export interface Ratios {
  readonly cpu: number;
  readonly throughput: number;
  readonly latencyP50: number;
  readonly latencyP99: number;
  readonly opcuaLatencyP50: number;
  readonly opcuaLatencyP99: number;
  readonly rss: number;
}

/**
 * Messages that did not arrive: every one on MQTT; on OPC UA in the paced blocks, where no value overtakes
 * another.
 */
function missing(measured: readonly Measured[]): number {
  return measured.reduce((sum, { kind, result }) => {
    const onOpcua = kind === "paced" ? result.sent - result.seenOnOpcua : 0;
    return sum + (result.sent - result.seenOnMqtt) + onOpcua;
  }, 0);
}

/** Where they are missing. */
export function missingByBlock(measured: readonly Measured[]): string {
  return measured
    .map(
      ({ kind, side, result }) =>
        `${side} ${kind}: sent ${result.sent}, MQTT ${result.seenOnMqtt}, OPC UA ${result.seenOnOpcua}`,
    )
    .join("\n");
}

/** Of the sides in `idlePercent`, which is in percent of a core. */
export function messageFigures(
  robots: number,
  measured: readonly Measured[],
  idlePercent: ReadonlyMap<Side, number>,
): MessageFigures {
  const figures = [...idlePercent].map(([side, percent]) => {
    const blocks = measured.filter((block) => block.side === side);
    return [side, sideFigures(blocks, percent)] as const;
  });
  return {
    robots,
    blocks: measured.length,
    messages: measured.reduce((sum, block) => sum + block.result.sent, 0),
    missing: missing(measured),
    sides: Object.fromEntries(figures),
  };
}

/** The gateway's figures ÷ another side's. */
export function ratiosOf(gateway: SideFigures, to: SideFigures): Ratios {
  return {
    cpu: gateway.cpuMicrosPerMessage / to.cpuMicrosPerMessage,
    throughput: gateway.messagesPerSecond / to.messagesPerSecond,
    latencyP50: gateway.mqttP50Ms / to.mqttP50Ms,
    latencyP99: gateway.mqttP99Ms / to.mqttP99Ms,
    opcuaLatencyP50: gateway.opcuaP50Ms / to.opcuaP50Ms,
    opcuaLatencyP99: gateway.opcuaP99Ms / to.opcuaP99Ms,
    rss: gateway.rssAnonMb / to.rssAnonMb,
  };
}

/** CPU of one message in each paced block of a side, in µs. */
export function cpuPerMessage(side: Side, measured: readonly Measured[]): number[] {
  return measured
    .filter((block) => block.side === side && block.kind === "paced")
    .map((block) => block.cpuMicros / block.result.sent);
}

function sideFigures(blocks: readonly Measured[], idlePercent: number): SideFigures {
  const paced = blocks.filter((block) => block.kind === "paced");
  const saturated = blocks.filter((block) => block.kind === "saturated");
  const median = (of: readonly Measured[], figure: (block: Measured) => number) =>
    quantile(of.map(figure), 0.5);
  return {
    cpuMicrosPerMessage: median(paced, (block) => block.cpuMicros / block.result.sent),
    messagesPerSecond: median(saturated, (block) => block.result.seenOnMqtt / block.result.seconds),
    busyAtFullSpeed: median(saturated, (block) => block.cpuMicros / 1e6 / block.wallSeconds),
    mqttP50Ms: median(paced, (block) => block.result.mqttLatencyMs.p50),
    mqttP99Ms: median(paced, (block) => block.result.mqttLatencyMs.p99),
    opcuaP50Ms: median(paced, (block) => block.result.opcuaLatencyMs.p50),
    opcuaP99Ms: median(paced, (block) => block.result.opcuaLatencyMs.p99),
    rssAnonMb: median(blocks, (block) => block.rssAnonMb),
    idlePercent,
  };
}

const titles: Readonly<Record<Side, string>> = {
  floor: "floor",
  script: "quick script",
  gateway: "gateway",
  other: "other build",
  beside: "with Sparkplug",
  instead: "Sparkplug alone",
  "other-instead": "Sparkplug alone, other build",
};

/** A column a side, and the gateway's ratio to the floor. */
export function messageTable(figures: MessageFigures, ratios: Ratios): string {
  const shown = Object.entries(figures.sides) as [Side, SideFigures][];
  const line = (label: string, of: (side: SideFigures) => number, ratio?: number) =>
    row(label, ...shown.map(([, side]) => of(side)), ...(ratio === undefined ? [] : [ratio.toFixed(2)]));
  return [
    `${figures.robots} robots, ${figures.messages} messages in ${figures.blocks} blocks, ${figures.missing} missing`,
    row("", ...shown.map(([side]) => titles[side]), "gw ÷ floor"),
    line("CPU µs a message", (side) => side.cpuMicrosPerMessage, ratios.cpu),
    line("messages a second at full speed", (side) => side.messagesPerSecond, ratios.throughput),
    line("  of a core used meanwhile", (side) => side.busyAtFullSpeed),
    line("MQTT latency p50 ms", (side) => side.mqttP50Ms, ratios.latencyP50),
    line("MQTT latency p99 ms", (side) => side.mqttP99Ms, ratios.latencyP99),
    line("OPC UA latency p50 ms", (side) => side.opcuaP50Ms, ratios.opcuaLatencyP50),
    line("OPC UA latency p99 ms", (side) => side.opcuaP99Ms, ratios.opcuaLatencyP99),
    line("RssAnon MB", (side) => side.rssAnonMb, ratios.rss),
    line("idle, % of a core", (side) => side.idlePercent),
  ].join("\n");
}

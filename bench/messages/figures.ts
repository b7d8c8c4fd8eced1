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
interface SideFigures {
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
  readonly floor: SideFigures;
  readonly gateway: SideFigures;
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

/** Messages that did not arrive: every one on MQTT; on OPC UA in the paced blocks, where no value overtakes another. */
function missing(measured: readonly Measured[]): number {
  return measured.reduce((sum, { kind, result }) => {
    const onOpcua = kind === "paced" ? result.sent - result.seenOnOpcua : 0;
    return sum + (result.sent - result.seenOnMqtt) + onOpcua;
  }, 0);
}

/** Where they are missing, for whoever has to find out why. */
export function missingByBlock(measured: readonly Measured[]): string {
  return measured
    .map(
      ({ kind, side, result }) =>
        `${side} ${kind}: sent ${result.sent}, MQTT ${result.seenOnMqtt}, OPC UA ${result.seenOnOpcua}`,
    )
    .join("\n");
}

export function messageFigures(
  robots: number,
  measured: readonly Measured[],
  idlePercent: Readonly<Record<Side, number>>,
): MessageFigures {
  const side = (name: Side) =>
    sideFigures(
      measured.filter((block) => block.side === name),
      idlePercent[name],
    );
  return {
    robots,
    blocks: measured.length,
    messages: measured.reduce((sum, block) => sum + block.result.sent, 0),
    missing: missing(measured),
    floor: side("floor"),
    gateway: side("gateway"),
  };
}

export function ratiosOf({ floor, gateway }: MessageFigures): Ratios {
  return {
    cpu: gateway.cpuMicrosPerMessage / floor.cpuMicrosPerMessage,
    throughput: gateway.messagesPerSecond / floor.messagesPerSecond,
    latencyP50: gateway.mqttP50Ms / floor.mqttP50Ms,
    latencyP99: gateway.mqttP99Ms / floor.mqttP99Ms,
    opcuaLatencyP50: gateway.opcuaP50Ms / floor.opcuaP50Ms,
    opcuaLatencyP99: gateway.opcuaP99Ms / floor.opcuaP99Ms,
    rss: gateway.rssAnonMb / floor.rssAnonMb,
  };
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

export function messageTable(figures: MessageFigures, ratios: Ratios): string {
  const { floor, gateway } = figures;
  const line = (label: string, of: (side: SideFigures) => number, ratio: number) =>
    row(label, of(floor), of(gateway), ratio.toFixed(2));
  return [
    `${figures.robots} robots, ${figures.messages} messages in ${figures.blocks} blocks, ${figures.missing} missing`,
    row("", "floor", "gateway", "ratio"),
    line("CPU µs a message", (side) => side.cpuMicrosPerMessage, ratios.cpu),
    line("messages a second at full speed", (side) => side.messagesPerSecond, ratios.throughput),
    row("  of a core used meanwhile", floor.busyAtFullSpeed, gateway.busyAtFullSpeed),
    line("MQTT latency p50 ms", (side) => side.mqttP50Ms, ratios.latencyP50),
    line("MQTT latency p99 ms", (side) => side.mqttP99Ms, ratios.latencyP99),
    line("OPC UA latency p50 ms", (side) => side.opcuaP50Ms, ratios.opcuaLatencyP50),
    line("OPC UA latency p99 ms", (side) => side.opcuaP99Ms, ratios.opcuaLatencyP99),
    line("RssAnon MB", (side) => side.rssAnonMb, ratios.rss),
    row("idle, % of a core", floor.idlePercent, gateway.idlePercent),
  ].join("\n");
}

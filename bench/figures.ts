import { type BlockResult, quantile, type Side } from "./protocol.ts";

/** One block with what the measured process cost. */
export interface Measured {
  readonly kind: "paced" | "saturated";
  readonly side: Side;
  readonly result: BlockResult;
  readonly cpuMicros: number;
  readonly rssAnonMb: number;
}

/** The figures of one side: medians over its blocks. */
export interface SideFigures {
  readonly cpuMicrosPerMessage: number;
  readonly messagesPerSecond: number;
  readonly mqttP50Ms: number;
  readonly mqttP99Ms: number;
  readonly opcuaP50Ms: number;
  readonly opcuaP99Ms: number;
  readonly rssAnonMb: number;
}

export interface Report {
  readonly robots: number;
  readonly blocks: number;
  readonly messages: number;
  readonly missing: number;
  readonly floor: SideFigures;
  readonly gateway: SideFigures;
  readonly ratios: {
    readonly cpu: number;
    readonly throughput: number;
    readonly latencyP50: number;
    readonly latencyP99: number;
    readonly opcuaLatencyP50: number;
    readonly opcuaLatencyP99: number;
    readonly rss: number;
  };
}

/** Messages that did not arrive: every one on MQTT; on OPC UA in the paced blocks, where no value overtakes another. */
export function missing(measured: readonly Measured[]): number {
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

export function report(robots: number, measured: readonly Measured[]): Report {
  const floor = figures(measured.filter((block) => block.side === "floor"));
  const gateway = figures(measured.filter((block) => block.side === "gateway"));
  return {
    robots,
    blocks: measured.length,
    messages: measured.reduce((sum, block) => sum + block.result.sent, 0),
    missing: missing(measured),
    floor,
    gateway,
    ratios: {
      cpu: gateway.cpuMicrosPerMessage / floor.cpuMicrosPerMessage,
      throughput: gateway.messagesPerSecond / floor.messagesPerSecond,
      latencyP50: gateway.mqttP50Ms / floor.mqttP50Ms,
      latencyP99: gateway.mqttP99Ms / floor.mqttP99Ms,
      opcuaLatencyP50: gateway.opcuaP50Ms / floor.opcuaP50Ms,
      opcuaLatencyP99: gateway.opcuaP99Ms / floor.opcuaP99Ms,
      rss: gateway.rssAnonMb / floor.rssAnonMb,
    },
  };
}

function figures(measured: readonly Measured[]): SideFigures {
  const paced = measured.filter((block) => block.kind === "paced");
  const saturated = measured.filter((block) => block.kind === "saturated");
  const median = (blocks: readonly Measured[], of: (block: Measured) => number) =>
    quantile(blocks.map(of), 0.5);
  return {
    cpuMicrosPerMessage: median(paced, (block) => block.cpuMicros / block.result.sent),
    messagesPerSecond: median(saturated, (block) => block.result.seenOnMqtt / block.result.seconds),
    mqttP50Ms: median(paced, (block) => block.result.mqttLatencyMs.p50),
    mqttP99Ms: median(paced, (block) => block.result.mqttLatencyMs.p99),
    opcuaP50Ms: median(paced, (block) => block.result.opcuaLatencyMs.p50),
    opcuaP99Ms: median(paced, (block) => block.result.opcuaLatencyMs.p99),
    rssAnonMb: median(measured, (block) => block.rssAnonMb),
  };
}

/** The report as a table for a person. */
export function table(result: Report): string {
  const { floor, gateway, ratios } = result;
  const row = (label: string, a: number, b: number, ratio: number) =>
    `${label.padEnd(26)}${a.toFixed(1).padStart(12)}${b.toFixed(1).padStart(12)}${ratio.toFixed(2).padStart(10)}`;
  return [
    `${result.robots} robots, ${result.messages} messages in ${result.blocks} blocks, ${result.missing} missing`,
    `${"".padEnd(26)}${"floor".padStart(12)}${"gateway".padStart(12)}${"ratio".padStart(10)}`,
    row("CPU µs a message", floor.cpuMicrosPerMessage, gateway.cpuMicrosPerMessage, ratios.cpu),
    row("messages a second", floor.messagesPerSecond, gateway.messagesPerSecond, ratios.throughput),
    row("MQTT latency p50 ms", floor.mqttP50Ms, gateway.mqttP50Ms, ratios.latencyP50),
    row("MQTT latency p99 ms", floor.mqttP99Ms, gateway.mqttP99Ms, ratios.latencyP99),
    row("OPC UA latency p50 ms", floor.opcuaP50Ms, gateway.opcuaP50Ms, ratios.opcuaLatencyP50),
    row("OPC UA latency p99 ms", floor.opcuaP99Ms, gateway.opcuaP99Ms, ratios.opcuaLatencyP99),
    row("RssAnon MB", floor.rssAnonMb, gateway.rssAnonMb, ratios.rss),
  ].join("\n");
}

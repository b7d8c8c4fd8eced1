import {
  AggregateFilter,
  type ContentFilter,
  ContentFilterElement,
  DataChangeFilter,
  DeadbandType,
  ElementOperand,
  EventFilter,
  FilterOperator,
  type MonitoringParameters,
} from "node-opcua";

/**
 * How often an event may evaluate the elements of a filter altogether. An element is evaluated again for each
 * reference to it.
 */
const MOST_QUESTIONS = 1_000;

/**
 * Replaces a filter that node-opcua 2.182 accepts and cannot serve by one that it refuses. It evaluates
 * events where they are raised: a filter of 40 elements that each evaluate the next one twice would hold up
 * the gateway for ever. A deadband that is no number would hide every change.
 */
export function refuseUnservable(parameters: MonitoringParameters): void {
  const { filter } = parameters;
  if (filter instanceof EventFilter) {
    if (questionsOf(filter.whereClause) > MOST_QUESTIONS) filter.whereClause.elements = [askingItself()];
  } else if (filter instanceof DataChangeFilter) {
    const { deadbandType, deadbandValue } = filter;
    if (deadbandType === DeadbandType.None || deadbandValue >= 0) return;
    filter.deadbandType = DeadbandType.Percent;
    filter.deadbandValue = -1;
  } else if (filter instanceof AggregateFilter) {
    // Aggregates are not supported. Without this filter the client would take each value for one of them.
    parameters.filter = new EventFilter({});
  }
}

/**
 * How often an event evaluates elements in the worst case; infinite for a filter that contains itself, which
 * is refused.
 */
function questionsOf(filter: ContentFilter | null): number {
  const elements = filter?.elements ?? [];
  const known = new Map<number, number>();
  function of(index: number): number {
    const found = known.get(index);
    if (found !== undefined) return found;
    known.set(index, 0);
    let count = 1;
    for (const operand of elements[index]?.filterOperands ?? []) {
      if (operand instanceof ElementOperand) count += of(operand.index);
    }
    known.set(index, count);
    return count;
  }
  return elements.length > MOST_QUESTIONS ? elements.length : of(0);
}

/** A loop, to which node-opcua answers BadFilterElementInvalid. */
function askingItself(): ContentFilterElement {
  const filterOperands = [new ElementOperand({ index: 0 })];
  return new ContentFilterElement({ filterOperator: FilterOperator.Not, filterOperands });
}

/** A span in a trace, as W3C Trace Context puts it in one header. */
export type TraceContext = {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the trace is recorded: spans that follow from it are then recorded as well. */
  readonly isSampled: boolean;
};

/** A later version may have more behind a dash; the version `ff` is forbidden. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const KNOWN_VERSION = '00';
const SAMPLED = 1;
/** Longer than any that we can use. */
const CHARACTERS_MAX = 512;

/** Undefined if it is no `traceparent` (W3C Trace Context, 3.2): a new trace then begins. */
export const parseTraceparent = (text: string | undefined): TraceContext | undefined => {
  if (text === undefined || text.length > CHARACTERS_MAX) return undefined;
  const [, version, traceId, spanId, flags = '', more] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || (version === KNOWN_VERSION && more !== undefined))
    return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
};

/** In the version that we know, whichever version it came in (4.3). */
export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `${KNOWN_VERSION}-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/** The form of `formatTraceparent` for a recorded trace: only such a one is stored with an event. */
export const RECORDED_TRACE = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-01$/;

/** The traceparent to store; undefined if the trace is not recorded. */
export const recordedOnly = (traceparent: string | undefined): string | undefined =>
  traceparent !== undefined && RECORDED_TRACE.test(traceparent) ? traceparent : undefined;

/** Correlates log lines. */
export const traceIdOf = (traceparent: string | undefined): string | undefined =>
  parseTraceparent(traceparent)?.traceId;

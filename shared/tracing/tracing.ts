/**
 * The destination of spans: each operation with its times and its cause. Nothing waits for them, they may be
 * lost, and they hold neither secrets nor personal data. Callers state causes in a `traceparent` that they
 * pass on.
 */
export type Tracing = AsyncDisposable & {
  /** Whether spans are recorded: if not, callers need not look for any. */
  readonly isOn: boolean;

  /** Begins a span. Without a valid parent it begins a trace of its own. */
  start(name: string, options?: SpanOptions): Span;
};

type SpanOptions = {
  /** The `traceparent` of its cause. */
  readonly parent?: string | undefined;
  /** Defaults to `internal`. */
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** By `nowMs`; defaults to now. */
  readonly startedAtMs?: number;
};

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** Undefined attributes are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A span is reported once it has ended, and then never changes. A span that never ends is never reported. */
export type Span = {
  /** The parent of spans that follow from it; undefined if tracing is off. */
  readonly traceparent: string | undefined;
  /** For names and attributes that are known only later. */
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** The kind of the error, one of a few words; never its message or a value. */
  fail(errorType: string): void;
  /** By `nowMs`; defaults to now. */
  end(endedAtMs?: number): void;
};

const NO_SPAN: Span = { traceparent: undefined, rename() {}, set() {}, fail() {}, end() {} };

/** Tracing that is off. */
export const NO_TRACING: Tracing = {
  isOn: false,
  start: () => NO_SPAN,
  [Symbol.asyncDispose]: async () => {},
};

/** The class of an error: its message may quote values. */
export const errorTypeOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

const DRIFT_MAX_MS = 2;
let offsetMs = Date.now() - performance.now();

/** The time of day in milliseconds with fractions; follows the machine’s clock, which may be set. */
export const nowMs = (): number => {
  const byClock = Date.now();
  const precise = performance.now() + offsetMs;
  if (Math.abs(precise - byClock) <= DRIFT_MAX_MS) return precise;
  offsetMs += byClock - precise;
  return byClock;
};

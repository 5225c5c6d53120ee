/**
 * Where spans go: what was done when, for how long, and because of what. Nothing waits for them, they may be
 * lost, and they hold neither secrets nor personal data. Who follows from what is said by those who know, in
 * a `traceparent` that they hand on.
 */
export type Tracing = AsyncDisposable & {
  /** Whether anything becomes of a span: where nothing does, nobody need look for what to trace. */
  readonly isOn: boolean;

  /** Begins a span. Without a valid parent it begins a trace of its own. */
  start(name: string, options?: SpanOptions): Span;
};

type SpanOptions = {
  /** The `traceparent` of what it follows from. */
  readonly parent?: string | undefined;
  /** `internal` unless told. */
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** By `nowMs`; now unless told. */
  readonly startedAtMs?: number;
};

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** Those that are undefined are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** It is told of once it has ended, and changes no more then. One that never ends is never told of. */
export type Span = {
  /** What follows from it names this as its parent; nothing where tracing is off. */
  readonly traceparent: string | undefined;
  /** For what is known only later. */
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Because of what, as one of few words: neither a message nor a value. */
  fail(errorType: string): void;
  /** By `nowMs`; now unless told. */
  end(endedAtMs?: number): void;
};

const NO_SPAN: Span = { traceparent: undefined, rename() {}, set() {}, fail() {}, end() {} };

/** Tracing that is off. */
export const NO_TRACING: Tracing = {
  isOn: false,
  start: () => NO_SPAN,
  [Symbol.asyncDispose]: async () => {},
};

/** What failed, by its class alone: messages may quote values. */
export const errorTypeOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

const DRIFT_MAX_MS = 2;
let offsetMs = Date.now() - performance.now();

/**
 * The time of day in milliseconds with their fractions; it goes by the clock of the machine, which may be
 * set.
 */
export const nowMs = (): number => {
  const byClock = Date.now();
  const precise = performance.now() + offsetMs;
  if (Math.abs(precise - byClock) <= DRIFT_MAX_MS) return precise;
  offsetMs += byClock - precise;
  return byClock;
};

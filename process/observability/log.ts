import { hostname } from 'node:os';
import { type DestinationStream, type LoggerOptions, pino } from 'pino';
import type { Log } from '#shared/log.ts';
import { createOutageLines } from '#shared/outage-lines.ts';
import { remember } from '#shared/remember.ts';
import { outageKeyOf } from './outage-key.ts';

type LogOptions = {
  readonly level: string;
  /** The output, unless it is standard output. */
  readonly destination?: DestinationStream;
  /** The name of this process among those that write to the same standard output. */
  readonly worker?: string | undefined;
  /** The time since any moment, for lines that are logged once a minute. */
  readonly elapsedMs?: () => number;
};

/**
 * Standard output that gathers the lines of one turn of the event loop into one write, because many requests
 * end in the same turn. Warnings, errors and the exit of the process flush at once. `SIGKILL` loses the lines
 * of the current turn.
 */
const openStandardOutput = (heldMax: number): DestinationStream => {
  const output = pino.destination({ dest: 1, sync: true });
  let held = '';
  const flush = (): void => {
    const text = held;
    held = '';
    if (text !== '') output.write(text);
  };
  process.on('exit', flush);
  return {
    write(line) {
      if (held.length + line.length > heldMax) flush();
      if (held === '') setImmediate(flush);
      held += line;
      if (!MAY_WAIT.test(line)) flush();
    },
  };
};
const HELD_CHARACTERS_MAX = 16_384;
/** A pipe writes this much atomically (`PIPE_BUF`), so that the lines of several workers do not mix. */
const HELD_BY_WORKER_MAX = 4_096;
const MAY_WAIT = /^{"level":"(?:info|debug|trace)"/;

let opened: DestinationStream | undefined;

const standardOutput = (worker: string | undefined): DestinationStream => {
  opened ??= openStandardOutput(worker === undefined ? HELD_CHARACTERS_MAX : HELD_BY_WORKER_MAX);
  return opened;
};

export const createLog = ({
  level,
  worker,
  destination = standardOutput(worker),
  elapsedMs = () => performance.now(),
}: LogOptions): Log => {
  const log = pino(
    {
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      // `redact` describes errors, including their causes.
      ...(worker !== undefined && { base: { pid: process.pid, hostname: hostname(), worker } }),
      serializers: { err: (described: unknown) => described },
      hooks: { logMethod: leaveOutRepeated(elapsedMs) },
      formatters: { level: (label) => ({ level: label }), log: redact },
    },
    destination,
  );
  // Pino does not format the bindings of a child, and children inherit this method.
  const { child } = log;
  log.child = function (this: Log, bindings, options) {
    return child.call(this, redact(bindings), options);
  } as Log['child'];
  return log;
};

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

/** An outage fails all requests, followers and checks alike, for as long as it lasts. */
const leaveOutRepeated = (elapsedMs: () => number): LogMethod => {
  const lines = createOutageLines(elapsedMs);
  return function (given, method, level) {
    const [fields, message] = given as readonly unknown[];
    const key = WARN <= level && level < FATAL ? outageKeyOf(fields, message) : undefined;
    const admitted = key === undefined ? { repeated: 0 } : lines.admit(key);
    if (admitted === undefined) return;
    if (admitted.repeated === 0) method.apply(this, given);
    else method.call(this, { ...(fields as object), ...admitted }, message as string);
  };
};

const WARN = 40;
const FATAL = 60;

/** Replaces secrets and personal fields in a log. */
const REDACTED = '[redacted]';
const TOO_DEEP = '[too deep]';
const DEPTH_MAX = 8;
const ITEMS_MAX = 100;

/** Names are compared in lower case and without dashes and underscores. */
const HIDDEN = new Set([
  'authorization',
  'cookie',
  'setcookie',
  'dpop',
  'password',
  'passphrase',
  'codeverifier',
  'masterkey',
  'privatekey',
  'apikey',
  'assertion',
  'name',
  'email',
  'text',
]);
const HIDDEN_ENDINGS = ['secret', 'token', 'password'];

/** Copies log fields without secrets and personal fields, at any depth, so that no path needs listing. */
const redact = (fields: Record<string, unknown>): Record<string, unknown> => redactFields(fields, 0);

const redactFields = (fields: object, depth: number): Record<string, unknown> => {
  const copy: Record<string, unknown> = {};
  // Assigning to this name would set the prototype.
  for (const [key, value] of Object.entries(fields))
    if (key !== '__proto__') copy[key] = isHidden(key) ? REDACTED : redactValue(value, depth + 1);
  return copy;
};

const redactValue = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return redactUrl(value);
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof URL)
    return value;
  if (depth > DEPTH_MAX) return TOO_DEEP;
  if (value instanceof Error) return describeError(value, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => redactValue(item, depth + 1));
  return redactFields(value, depth);
};

/** Memoized: a program logs few different names. */
const isHidden = remember((key) => {
  const plain = key.toLowerCase().replaceAll(/[-_]/g, '');
  return HIDDEN.has(plain) || HIDDEN_ENDINGS.some((ending) => plain.endsWith(ending));
});

/** Hides the password of a connection string. */
const redactUrl = (text: string): string =>
  text.includes('://') ? text.replaceAll(/(:\/\/[^\s:/@]*):[^\s/@]*@/g, `$1:${REDACTED}@`) : text;

/**
 * The properties that every error has. Others are left out: a database’s `detail` and a validator’s `issues`
 * quote values, which may be personal.
 */
const describeError = (error: Error, depth: number): Record<string, unknown> => ({
  type: error.constructor.name,
  message: redactUrl(error.message),
  ...('code' in error && { code: error.code }),
  stack: redactUrl(error.stack ?? ''),
  ...(error.cause !== undefined && { cause: redactValue(error.cause, depth + 1) }),
});

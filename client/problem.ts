/** An error that the server has answered (RFC 9457). Compare `code`, which does not change. */
export class Problem<Code extends string = string> extends Error {
  override readonly name = 'Problem';
  readonly code: Code;
  readonly status: number;
  /** The invalid fields and parameters. */
  readonly errors: readonly ProblemError[];
  /** More facts for programs, beside the code. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Identifies the request in the server's logs. */
  readonly requestId: string | undefined;
  /** When to retry, if the answer says so. */
  readonly retryAfterMs: number | undefined;

  constructor({ code, status, message, ...rest }: ProblemInit<Code>) {
    super(message);
    this.code = code;
    this.status = status;
    this.errors = rest.errors ?? [];
    this.details = rest.details ?? {};
    this.requestId = rest.requestId;
    this.retryAfterMs = rest.retryAfterMs;
  }

  /** The first error of each field or parameter by its name, such as `title` or `lines.0.amount`. */
  get fields(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.errors.toReversed().flatMap(({ detail, pointer, parameter }) => {
        const name = parameter ?? pointer?.slice(1).split('/').map(unescaped).join('.');
        return name ? [[name, detail]] : [];
      }),
    );
  }
}

/** A part of a JSON Pointer (RFC 6901). */
const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

type ProblemError = {
  readonly detail: string;
  readonly pointer?: string;
  readonly parameter?: string;
};
type ProblemInit<Code> = {
  readonly code: Code;
  readonly status: number;
  readonly message: string;
  readonly errors?: readonly ProblemError[] | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
};

/**
 * There was no answer: no connection, a broken one, or a timeout. It is unknown whether a write took effect.
 */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly reason: 'connection' | 'timeout';

  constructor(reason: 'connection' | 'timeout', options: ErrorOptions) {
    super(
      reason === 'timeout' ? 'the server did not answer in time' : 'the server cannot be reached',
      options,
    );
    this.reason = reason;
  }
}

const PROBLEM = 'application/problem+json';
/** The answer is not from Annals: a proxy in between. */
const NOT_OURS = 'unexpected_answer';

export const problemIn = async (response: Response, nowMs = Date.now()): Promise<Problem> => {
  const { status, headers } = response;
  const retryAfterMs = retryAfterMsIn(headers.get('Retry-After'), nowMs);
  const isProblem = headers.get('Content-Type')?.startsWith(PROBLEM) ?? false;
  const body = await (isProblem ? response.json() : response.body?.cancel())?.catch(() => undefined);
  const {
    code = NOT_OURS,
    title = `the response has the status ${status}`,
    ...rest
  } = (body ?? {}) as ProblemBody;
  return new Problem({ ...rest, code, status, message: rest.detail ?? title, retryAfterMs });
};

/** Parses the body of a success; a proxy in between could have sent anything. */
export const jsonIn = async <Value>(response: Response): Promise<Value> => {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem({
      code: NOT_OURS,
      status: response.status,
      message: 'the response is not JSON from Annals',
    });
  }
};

type ProblemBody = {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: readonly ProblemError[];
  readonly details?: Readonly<Record<string, unknown>>;
  readonly requestId?: string;
};

/** The problem that ends a stream of events. */
export const problemOfMessage = (data: string): Problem => {
  const {
    code = NOT_OURS,
    title = 'the stream has ended',
    status = 0,
    ...rest
  } = JSON.parse(data) as ProblemBody & { status?: number };
  return new Problem({ ...rest, code, status, message: rest.detail ?? title });
};

const MS_PER_SECOND = 1_000;

/** Seconds, or a date (RFC 9110, 10.2.3). */
const retryAfterMsIn = (value: string | null, nowMs: number): number | undefined => {
  if (value === null || value === '') return undefined;
  const afterMs = /^\d+$/.test(value) ? Number(value) * MS_PER_SECOND : Date.parse(value) - nowMs;
  return Number.isNaN(afterMs) ? undefined : Math.max(0, afterMs);
};

import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Scan, ScannedFile } from '#kernel/base/scan.ts';

/** How long a scanner may take; clients and proxies wait no longer. */
const SCAN_MS = 60_000;
/** A careless scanner returns a whole page of an error. */
const REFUSAL_CHARACTERS_MAX = 1_000;

type Scanning = Omit<ScannedFile, 'signal'> & {
  /** The member of the form that gets the file. */
  readonly pointer: string;
};

/** Throws if the scanner refuses the file, fails, or takes too long. */
export const scanFile = async (
  scan: Scan,
  { pointer, ...file }: Scanning,
  scanMaxMs = SCAN_MS,
): Promise<void> => {
  const refusal = await inTime(scan, file, scanMaxMs).catch((cause: unknown) => {
    throw new HttpProblem('unavailable', { detail: UNSCANNED, cause });
  });
  if (refusal === undefined) return;
  // A scanner without types may return anything, and only nothing accepts.
  const said = typeof refusal === 'string' ? refusal.slice(0, REFUSAL_CHARACTERS_MAX).trim() : '';
  const detail = said === '' ? 'The file was refused.' : said;
  throw new HttpProblem('invalid_request', { detail, extensions: { errors: [{ pointer, detail }] } });
};

const UNSCANNED = 'The file could not be scanned, so it was not accepted; try again.';

const inTime = async (
  scan: Scan,
  file: Omit<ScannedFile, 'signal'>,
  scanMaxMs: number,
): Promise<string | undefined> => {
  const late = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`the scanner took more than ${scanMaxMs} ms`);
    late.abort(error);
    reject(error);
  }, scanMaxMs);
  try {
    return await Promise.race([(async () => scan({ ...file, signal: late.signal }))(), promise]);
  } finally {
    clearTimeout(timer);
  }
};

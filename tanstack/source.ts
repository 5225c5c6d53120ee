import type { Requester } from '../client/requests.ts';
import type { Key, Row } from './copy.ts';

export type Asked = {
  readonly requester: Requester;
  /** The path of the list. */
  readonly path: string;
  readonly query: object;
  /** The event types to follow; undefined follows all. */
  readonly types: readonly string[] | undefined;
  /** The maximum number of rows. */
  readonly limit: number;
  keyOf(row: Row): Key;
};

/** Where a copy gets its rows from. */
export type Source = {
  /** Throws the refusal that ends it, or the reason of its signal. */
  run(): Promise<never>;
  /** The caller waits for a write: makes sure that the copy gets it soon. */
  hurry(token: string): Promise<void>;
};

const STREAM = 'text/event-stream';
/** A server without this stream answers a page instead. */
export const STREAM_TYPES = `${STREAM}, application/json;q=0.1`;

export class NoStream extends Error {
  override readonly name = 'NoStream';
  constructor() {
    super('The server offers no streams. Serve the part streams().');
  }
}

export const isStream = async (response: Response): Promise<boolean> => {
  const is = response.headers.get('Content-Type')?.startsWith(STREAM) ?? false;
  if (!is) await response.body?.cancel();
  return is;
};

import type { IncomingHttpHeaders } from 'node:http';
import type { Json } from '#kernel/base/json.ts';

/** A message as it arrived. */
export type Received = {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly nowMs: number;
};

/** A message of the sender: nobody else could sign it. */
export type Verified = {
  /** The id by which the sender knows the message. */
  readonly id: string;
  /** The possible names of its type, the closest first. */
  readonly types: readonly string[];
  readonly payload: Json;
};

/** Checks the signature of a message, and throws `Unverified` for a wrong one. */
export type Verify = (received: Received) => Verified | Promise<Verified>;

/** The message is not the sender’s, or is too old. The sentence says so to the sender. */
export class Unverified extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Unverified';
  }
}

/** The value of a header; undefined if there is none. */
export const headerOf = ({ headers }: Pick<Received, 'headers'>, name: string): string | undefined => {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
};

export const demandHeader = (received: Pick<Received, 'headers'>, name: string): string => {
  const value = headerOf(received, name);
  if (value === undefined || value === '')
    throw new Unverified(`The message has no ${name}, which its signature needs.`);
  return value;
};

/** A message may wait for its delivery, and clocks differ. */
const TOLERANCE_S = 300;

/** Refuses a time, in seconds since 1970, that is further from ours than five minutes. */
export const demandRecent = (text: string, nowMs: number): void => {
  if (!/^\d{1,12}$/.test(text))
    throw new Unverified('The time of the message is not a number of seconds since 1970.');
  const ageS = Math.round(nowMs / 1_000) - Number(text);
  if (Math.abs(ageS) > TOLERANCE_S)
    throw new Unverified(
      `The message was signed ${Math.abs(ageS)} seconds ${ageS > 0 ? 'ago' : 'in the future'}, but at most ${TOLERANCE_S} are accepted: sign each delivery when it is sent, by a correct clock.`,
    );
};

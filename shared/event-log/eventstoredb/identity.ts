import { randomUUID } from 'node:crypto';
import { jsonEvent } from '@eventstore/db-client';
import type { LogIdentity, StreamName } from '#shared/brands.ts';
import { StaleVersion } from '../errors.ts';
import { NO_STREAM } from '../event-log.ts';
import type { Appender } from './append.ts';
import { type Reader, readFirst } from './read.ts';
import { IDENTITY_STREAM } from './record.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The first event of a stream of our own names the log. Of those who open it first at the same time, one writes it and all read it. */
export const takeIdentity = async (reader: Reader, appender: Appender): Promise<LogIdentity> => {
  const known = await readIdentity(reader);
  if (known) return known;
  const event = jsonEvent({ type: 'log.identified', data: { identity: randomUUID() } });
  try {
    await appender.append({ stream: IDENTITY_STREAM as StreamName, expected: NO_STREAM, events: [event] });
  } catch (error) {
    if (!(error instanceof StaleVersion)) throw error;
  }
  const written = await readIdentity(reader);
  if (!written) throw new Error(`the log's identity was written to ${IDENTITY_STREAM}, but cannot be read there`);
  return written;
};

const readIdentity = async (reader: Reader): Promise<LogIdentity | undefined> => {
  const first = await readFirst(reader, IDENTITY_STREAM);
  if (!first) return undefined;
  const { data } = first;
  if (typeof data === 'object' && 'identity' in data && typeof data.identity === 'string' && UUID.test(data.identity))
    return data.identity as LogIdentity;
  throw new Error(`the first event of ${IDENTITY_STREAM} does not name the log: it was not written by Annals`);
};

import { hash } from 'node:crypto';
import type { EventId, LogIdentity, StreamName, Version } from '#kernel/base/brands.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';

/** An event at its place in a log, with its content as it is stored: the JSON text, byte by byte. */
export type MacInput = {
  /** The identity that the log had when the event was appended. */
  readonly scope: LogIdentity;
  readonly stream: StreamName;
  readonly version: Version;
  readonly id: EventId;
  readonly type: string;
  readonly metadata: string;
  readonly data: string;
};

/** Authenticates what only a process with the master key may have written. All results are hex. */
export type EventMac = {
  ofEvent(input: MacInput): string;
  /** Names the event without a key: whoever reads it cannot make the MAC. */
  digestOf(input: MacInput): string;
  ofStatement(statement: string): string;
};

/** 128 bits: nobody can try a MAC without a process that checks it. */
const MAC_DIGITS = 32;

/**
 * HMAC-SHA256 (RFC 2104), cut to 16 bytes, except that the inner hash is written in hex. Its key is the digits of the
 * derived key: they fill one block of the hash, and are ASCII like both paddings of them, so that everything is text.
 * This takes 1.3 µs for an event of 700 bytes; an object of `createHmac` takes 3.3.
 */
export const createEventMac = (masterKey: MasterKey): EventMac => {
  const digits = Buffer.from(deriveKey(masterKey, 'event-mac').toString('hex'), 'latin1');
  const padded = (pad: number): string => Buffer.from(digits.map((byte) => byte ^ pad)).toString('latin1');
  const [inner, outer] = [padded(0x36), padded(0x5c)];
  const mac = (text: string): string =>
    hash('sha256', outer + hash('sha256', inner + text)).slice(0, MAC_DIGITS);
  return {
    ofEvent: (input) => mac(textOf(input)),
    digestOf: (input) => hash('sha256', textOf(input)),
    ofStatement: (statement) => mac(`annals statement 1\n${statement}`),
  };
};

/**
 * JSON has no line break outside of strings, and escapes those in strings; the other fields have none. So no two
 * events have the same text.
 */
const textOf = ({ scope, stream, version, id, type, metadata, data }: MacInput): string =>
  `annals event 1\n${scope}\n${stream}\n${version}\n${id}\n${type}\n${metadata}\n${data}`;

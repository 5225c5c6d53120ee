import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { EventId, LogIdentity, StreamName, Version } from '#kernel/base/brands.ts';
import { deriveKey, parseMasterKey } from '#shared/keys/master-key.ts';
import { createEventMac, type MacInput } from './event-mac.ts';

const MASTER = parseMasterKey(Buffer.alloc(32, 1).toString('base64'));
const mac = createEventMac(MASTER);

const input: MacInput = {
  scope: '6f9619ff-8b86-4011-b42d-00c04fc964ff' as LogIdentity,
  stream: 'article-1' as StreamName,
  version: 2 as Version,
  id: '0199a1b2-0000-7000-8000-000000000000' as EventId,
  type: 'article.edited',
  metadata: '{"version":1}',
  data: '{"title":"Zwölf Boxkämpfer\\n"}',
};

test('it is HMAC-SHA256 with the inner hash in hex, cut to 16 bytes', () => {
  const key = Buffer.from(deriveKey(MASTER, 'event-mac').toString('hex'));
  const { scope, stream, version, id, type, metadata, data } = input;
  const text = ['annals event 1', scope, stream, version, id, type, metadata, data].join('\n');
  const hashOf = (pad: number, value: string) =>
    createHash('sha256')
      .update(key.map((byte) => byte ^ pad))
      .update(value)
      .digest('hex');
  expect(mac.ofEvent(input)).toBe(hashOf(0x5c, hashOf(0x36, text)).slice(0, 32));
});

test('every part of an event and of its place changes it', () => {
  const others: readonly Partial<Record<keyof MacInput, unknown>>[] = [
    { scope: '00000000-8b86-4011-b42d-00c04fc964ff' },
    { stream: 'article-2' },
    { version: 3 },
    { id: '0199a1b2-0000-7000-8000-000000000001' },
    { type: 'article.deleted' },
    { metadata: '{"version":2}' },
    { data: '{}' },
  ];
  const macs = [{}, ...others].map((other) => mac.ofEvent({ ...input, ...other } as MacInput));
  expect(new Set(macs).size).toBe(others.length + 1);
});

test('another master key makes another one, and a statement is no event', () => {
  const other = createEventMac(parseMasterKey(Buffer.alloc(32, 2).toString('base64')));
  expect(other.ofEvent(input)).not.toBe(mac.ofEvent(input));
  expect(mac.ofStatement('{}')).not.toBe(other.ofStatement('{}'));
});

import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { bytesOfDocument } from '../documents/document-size.ts';
import type { Runnable } from '../run.ts';
import { createKeptDocuments } from './kept-documents.ts';

const TEXT = '{ cursor }';
const runnable = { prepared: { document: parse(TEXT) }, variables: {} } as unknown as Runnable;
const BYTES = bytesOfDocument(TEXT.length) + '{}'.length;

test('each owner has a limit of its own, and freed memory can be used again', () => {
  const kept = createKeptDocuments({ ofOwner: 2 * BYTES, inAll: 10 * BYTES });
  const [first] = [kept.take('ada', runnable), kept.take('ada', runnable), kept.take('bob', runnable)];
  expect(() => kept.take('ada', runnable)).toThrow(expect.objectContaining({ code: 'too_many_streams' }));
  first?.[Symbol.dispose]();
  // A second disposal frees nothing.
  first?.[Symbol.dispose]();
  kept.take('ada', runnable);
  expect(() => kept.take('ada', runnable)).toThrow('end some');
});

test('all owners share a second limit; beyond it, requests must retry until some is freed', () => {
  const kept = createKeptDocuments({ ofOwner: 2 * BYTES, inAll: 2 * BYTES });
  const [first] = [kept.take('ada', runnable), kept.take('bob', runnable)];
  expect(() => kept.take('carol', runnable)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  first?.[Symbol.dispose]();
  kept.take('carol', runnable);
});

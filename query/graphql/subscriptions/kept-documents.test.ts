import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { bytesOfDocument } from '../documents/document-size.ts';
import type { Runnable } from '../run.ts';
import { createKeptDocuments } from './kept-documents.ts';

const TEXT = '{ cursor }';
const runnable = { prepared: { document: parse(TEXT) }, variables: {} } as unknown as Runnable;
const BYTES = bytesOfDocument(TEXT.length) + '{}'.length;

test('an owner keeps so much, another as much again, and what is given back may be taken once more', () => {
  const kept = createKeptDocuments(2 * BYTES);
  const [first] = [kept.take('ada', runnable), kept.take('ada', runnable), kept.take('bob', runnable)];
  expect(() => kept.take('ada', runnable)).toThrow(expect.objectContaining({ code: 'too_many_streams' }));
  first?.[Symbol.dispose]();
  // Twice is once.
  first?.[Symbol.dispose]();
  kept.take('ada', runnable);
  expect(() => kept.take('ada', runnable)).toThrow('end some');
});

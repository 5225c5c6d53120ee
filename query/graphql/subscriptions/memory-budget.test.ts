import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { bytesOfDocument } from '../documents/document-size.ts';
import type { Runnable } from '../documents/run.ts';
import { createMemoryBudget } from './memory-budget.ts';

const TEXT = '{ cursor }';
const runnable = { prepared: { document: parse(TEXT) }, variables: {} } as unknown as Runnable;
const BYTES = bytesOfDocument(TEXT.length) + '{}'.length;

test('each owner has a limit of its own, and freed memory can be used again', () => {
  const budget = createMemoryBudget({ ofOwner: 2 * BYTES, inAll: 10 * BYTES });
  const [first] = [budget.take('ada', runnable), budget.take('ada', runnable), budget.take('bob', runnable)];
  expect(() => budget.take('ada', runnable)).toThrow(expect.objectContaining({ code: 'too_many_streams' }));
  first?.[Symbol.dispose]();
  // A second disposal frees nothing.
  first?.[Symbol.dispose]();
  budget.take('ada', runnable);
  expect(() => budget.take('ada', runnable)).toThrow('end some');
});

test('all owners share a second limit; beyond it, requests must retry until some is freed', () => {
  const budget = createMemoryBudget({ ofOwner: 2 * BYTES, inAll: 2 * BYTES });
  const [first] = [budget.take('ada', runnable), budget.take('bob', runnable)];
  expect(() => budget.take('carol', runnable)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  first?.[Symbol.dispose]();
  budget.take('carol', runnable);
});

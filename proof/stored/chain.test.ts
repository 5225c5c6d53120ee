import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { extend, extendByAll, GENESIS } from './chain.ts';

const hash = (text: string) => createHash('sha256').update(text).digest();

test('the chain follows its documentation, so that anybody can compute it', () => {
  expect(GENESIS).toEqual(hash('annals chain 1'));
  const one = hash('one');
  expect(extend(GENESIS, one)).toEqual(createHash('sha256').update(GENESIS).update(one).digest());
});

test('several at once give the same as one after the other', () => {
  const [one, two, three] = [hash('one'), hash('two'), hash('three')];
  expect(extendByAll(GENESIS, Buffer.concat([one, two, three]))).toEqual(
    extend(extend(extend(GENESIS, one), two), three),
  );
  expect(extendByAll(GENESIS, Buffer.alloc(0))).toEqual(GENESIS);
});

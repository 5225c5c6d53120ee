import { expect, test } from 'vitest';
import * as fields from '#kernel/declare/fields.ts';
import * as exported from '../package/index.ts';
import { EVERY_PART } from '../parts.ts';

/** For the kernel's own aggregates. */
const OF_THE_KERNEL = ['value', 'email', 'reasonLine'];

test('the package exports every type of field', () => {
  const made = Object.keys(fields).filter((name) => !OF_THE_KERNEL.includes(name));
  expect(Object.keys(exported)).toEqual(expect.arrayContaining(made));
});

test('the package exports every part by its name', () => {
  const names = EVERY_PART.map(({ name }) => name);
  expect(Object.keys(exported)).toEqual(expect.arrayContaining(names));
});

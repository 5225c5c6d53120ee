import { expect, it } from 'vitest';
import { concatenated, objectJson } from './json.ts';
import { literal, parameter, render, sql } from './sql.ts';

it('quotes literals with any contents', () => {
  expect(render(sql`select ${literal("it's '; drop table users; -- \\")}`).text).toBe(
    "select 'it''s ''; drop table users; -- \\'",
  );
  expect(() => literal('\0')).toThrow(RangeError);
});

it('numbers a repeated parameter once, and states its type', () => {
  const id = parameter('bigint', () => 1);
  const name = parameter('text', () => 'a');
  const { text, parameters } = render(sql`${id} ${name} ${sql`(${id})`}`);
  expect(text).toBe('$1::bigint $2::text ($1::bigint)');
  expect(parameters.map(({ type }) => type)).toEqual(['bigint', 'text']);
});

it('merges adjacent constants, and balances the rest as a tree', () => {
  const json = objectJson([
    ['a', '1'],
    ['b', sql`x`],
    ['c', ['"', sql`y`, '"']],
  ]);
  expect(render(concatenated(json)).text).toBe(`(('{"a":1,"b":' || x) || (',"c":"' || (y || '"}')))`);
});

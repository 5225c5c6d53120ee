// Over 200 lines, because it is one table: the examples of RFC 6902, and each operation that is refused.
import { describe, expect, test } from 'vitest';
import type { Json } from '#kernel/base/json.ts';
import { JsonPatch } from '#kernel/base/json-patch.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { applyJsonPatch } from './json-patch.ts';

const apply = (document: Json, patch: unknown): Json => applyJsonPatch(document, JsonPatch.parse(patch));
const refusalOf = (document: Json, patch: unknown): unknown => {
  try {
    return { became: apply(document, patch) };
  } catch (error) {
    if (error instanceof Rejection) return { code: error.code, ...error.details };
    throw error;
  }
};

describe('the examples of RFC 6902, appendix A', () => {
  test.each<[string, Json, unknown, Json]>([
    [
      'A.1 adds a member',
      { foo: 'bar' },
      [{ op: 'add', path: '/baz', value: 'qux' }],
      { baz: 'qux', foo: 'bar' },
    ],
    [
      'A.2 adds an item',
      { foo: ['bar', 'baz'] },
      [{ op: 'add', path: '/foo/1', value: 'qux' }],
      { foo: ['bar', 'qux', 'baz'] },
    ],
    ['A.3 removes a member', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
    [
      'A.4 removes an item',
      { foo: ['bar', 'qux', 'baz'] },
      [{ op: 'remove', path: '/foo/1' }],
      { foo: ['bar', 'baz'] },
    ],
    [
      'A.5 replaces a value',
      { baz: 'qux', foo: 'bar' },
      [{ op: 'replace', path: '/baz', value: 'boo' }],
      { baz: 'boo', foo: 'bar' },
    ],
    [
      'A.6 moves a value',
      { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
      [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
      { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
    ],
    [
      'A.7 moves an item',
      { foo: ['a', 'b', 'c', 'd'] },
      [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
      { foo: ['a', 'c', 'd', 'b'] },
    ],
    [
      'A.8 tests',
      { baz: 'qux', foo: ['a', 2] },
      [{ op: 'test', path: '/foo/1', value: 2 }],
      { baz: 'qux', foo: ['a', 2] },
    ],
    [
      'A.10 adds in depth',
      { foo: 'bar' },
      [{ op: 'add', path: '/child', value: { a: {} } }],
      { foo: 'bar', child: { a: {} } },
    ],
    [
      'A.11 overlooks what it does not know',
      { foo: 'bar' },
      [{ op: 'add', path: '/baz', value: 'qux', xyz: 1 }],
      { foo: 'bar', baz: 'qux' },
    ],
    [
      'A.14 unescapes in order',
      { '/': 9, '~1': 10 },
      [{ op: 'test', path: '/~01', value: 10 }],
      { '/': 9, '~1': 10 },
    ],
    [
      'A.16 adds a list',
      { foo: ['bar'] },
      [{ op: 'add', path: '/foo/-', value: ['abc', 'def'] }],
      { foo: ['bar', ['abc', 'def']] },
    ],
  ])('%s', (_, document, patch, expected) => {
    const before = structuredClone(document);
    expect(apply(document, patch)).toEqual(expected);
    expect(document).toEqual(before);
  });

  test.each<[string, Json, unknown, string]>([
    [
      'A.9 a test that fails',
      { baz: 'qux' },
      [{ op: 'test', path: '/baz', value: 'bar' }],
      'patch_test_failed',
    ],
    [
      'A.12 adding where there is nothing',
      { foo: 'bar' },
      [{ op: 'add', path: '/baz/bat', value: 'qux' }],
      'patch_not_applicable',
    ],
    [
      'A.15 a number is no text',
      { '~1': 10 },
      [{ op: 'test', path: '/~01', value: '10' }],
      'patch_test_failed',
    ],
  ])('%s', (_, document, patch, code) => {
    expect(refusalOf(document, patch)).toEqual({ code, operation: 0 });
  });
});

test('the whole document can be replaced, tested and copied into itself, but neither removed nor moved into itself', () => {
  expect(apply({ a: 1 }, [{ op: 'replace', path: '', value: [1] }])).toEqual([1]);
  expect(apply({ a: 1 }, [{ op: 'add', path: '', value: 'x' }])).toBe('x');
  expect(apply({ a: 1 }, [{ op: 'copy', from: '', path: '/b' }])).toEqual({ a: 1, b: { a: 1 } });
  expect(apply({ a: 1, b: 2 }, [{ op: 'test', path: '', value: { b: 2, a: 1 } }])).toEqual({ a: 1, b: 2 });
  expect(refusalOf({ a: 1 }, [{ op: 'remove', path: '' }])).toMatchObject({ code: 'patch_not_applicable' });
  expect(refusalOf({ a: {} }, [{ op: 'move', from: '/a', path: '/a/b' }])).toMatchObject({
    code: 'patch_not_applicable',
  });
  expect(apply({ a: {} }, [{ op: 'move', from: '/a', path: '/a' }])).toEqual({ a: {} });
});

test.each<[string, Json, unknown]>([
  ['removing what is not there', { a: 1 }, { op: 'remove', path: '/b' }],
  ['replacing what is not there', { a: 1 }, { op: 'replace', path: '/b', value: 1 }],
  ['copying what is not there', { a: 1 }, { op: 'copy', from: '/b', path: '/c' }],
  ['moving what is not there', { a: 1 }, { op: 'move', from: '/b', path: '/a' }],
  ['an index beyond the end', [1, 2], { op: 'add', path: '/3', value: 1 }],
  ['replacing at the end', [1, 2], { op: 'replace', path: '/2', value: 1 }],
  ['removing at the dash', [1, 2], { op: 'remove', path: '/-' }],
  ['replacing at the dash', [1, 2], { op: 'replace', path: '/-', value: 1 }],
  ['an index with a leading zero', [1, 2], { op: 'remove', path: '/01' }],
  ['an index with a sign', [1, 2], { op: 'replace', path: '/-1', value: 1 }],
  ['an index in another notation', [1, 2], { op: 'remove', path: '/1e0' }],
  ['a name in a list', [1, 2], { op: 'add', path: '/length', value: 0 }],
  ['a path through a text', { a: 'text' }, { op: 'add', path: '/a/b', value: 1 }],
  ['the length of a text', { a: 'text' }, { op: 'copy', from: '/a/length', path: '/b' }],
])('%s is not applicable', (_, document, operation) => {
  expect(refusalOf(document, [{ op: 'test', path: '', value: document }, operation])).toEqual({
    code: 'patch_not_applicable',
    operation: 1,
  });
});

describe('prototypes are out of reach', () => {
  test.each<[string, unknown]>([
    ['cannot be changed by a path', [{ op: 'add', path: '/__proto__/polluted', value: true }]],
    [
      'cannot be changed by way of a constructor',
      [{ op: 'add', path: '/constructor/prototype/polluted', value: true }],
    ],
    ['cannot be read', [{ op: 'copy', from: '/toString', path: '/a' }]],
    ['of lists neither', [{ op: 'add', path: '/list/__proto__/polluted', value: true }]],
    ['cannot be tested', [{ op: 'test', path: '/constructor/name', value: 'Object' }]],
  ])('%s', (_, patch) => {
    expect(refusalOf({ a: 1, list: [] }, patch)).toHaveProperty('code');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('a member named like an inherited one is an ordinary member', () => {
    const patch = JSON.parse('[{ "op": "add", "path": "/__proto__", "value": { "role": "admin" } }]');
    const patched = apply({ name: 'Ada' }, patch) as Record<string, unknown>;
    expect(Object.getPrototypeOf(patched)).toBe(Object.prototype);
    expect(Object.keys(patched)).toEqual(['name', '__proto__']);
  });
});

describe('growth is bounded', () => {
  const doubling = (times: number) =>
    Array.from({ length: times }, (_, at) => ({ op: 'copy', from: '', path: `/c${at}` }));

  test('when copies double the document each time', () => {
    expect(refusalOf({ a: 'x'.repeat(10_000) }, doubling(100))).toEqual({
      code: 'patch_not_applicable',
      operation: expect.any(Number),
      reason: 'too_large',
    });
  });

  test('when copies nest it deeply', () => {
    const path = '/x'.repeat(400);
    const deep = path
      .split('/')
      .reduceRight<Json>((inner, name) => (name === '' ? inner : { [name]: inner }), {});
    const patch = [
      { op: 'add', path: '', value: deep },
      ...Array.from({ length: 99 }, () => ({ op: 'copy', from: '', path: path.slice(0, -2) })),
    ];
    expect(refusalOf({}, patch)).toMatchObject({ code: 'patch_not_applicable', reason: 'too_large' });
  });

  test('but moves do not count', () => {
    const there = { op: 'move', from: '/a', path: '/b' };
    const back = { op: 'move', from: '/b', path: '/a' };
    const body = { a: 'x'.repeat(200_000) };
    expect(
      apply(
        body,
        Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? there : back)),
      ),
    ).toEqual(body);
  });
});

import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { JsonObject } from '#kernel/base/json.ts';
import { JsonPatch } from '#kernel/base/json-patch.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { changesByPatch, revealsContent } from './patch-content.ts';

const schema = z.strictObject({
  title: z.string().max(5),
  tags: z.array(z.string()),
  cover: z.string().nullable().default(null),
});
const ITEM = {
  content: { title: 'One', tags: ['a'], cover: '/a' },
  fixed: { id: 1, status: 'draft', author: { id: 7 } },
  unknown: ['/author/name', '/createdAt'],
};

const change = (patch: unknown, content: JsonObject = {}): unknown => {
  try {
    return changesByPatch(
      schema,
      { ...ITEM, content: { ...ITEM.content, ...content } },
      JsonPatch.parse(patch),
    );
  } catch (error) {
    if (error instanceof Rejection) return { code: error.code, ...error.details };
    throw error;
  }
};

test('the result contains only changed fields', () => {
  expect(change([{ op: 'replace', path: '/title', value: 'Two' }])).toEqual({ title: 'Two' });
  expect(change([{ op: 'replace', path: '/title', value: 'One' }])).toEqual({});
  expect(change([{ op: 'add', path: '/tags/-', value: 'b' }])).toEqual({ tags: ['a', 'b'] });
  expect(change([{ op: 'remove', path: '/cover' }])).toEqual({ cover: null });
});

test('unchanged fields that violate a newer rule are accepted', () => {
  expect(change([{ op: 'add', path: '/tags/-', value: 'b' }], { title: 'Too long' })).toEqual({
    tags: ['a', 'b'],
  });
});

test('invalid content is refused with pointers', () => {
  const patch = [
    { op: 'remove', path: '/title' },
    { op: 'add', path: '/tags/0', value: 1 },
    { op: 'add', path: '/a~1b', value: 1 },
    { op: 'add', path: '/__proto__', value: {} },
  ];
  expect(change(patch)).toEqual({
    code: 'invalid_command',
    errors: [
      { pointer: '/title', detail: 'Is missing.' },
      { pointer: '/tags/0', detail: expect.any(String) },
      { pointer: '/a~1b', detail: 'There is no such field.' },
      { pointer: '/__proto__', detail: 'There is no such field.' },
    ],
  });
  expect(change([{ op: 'add', path: '', value: [] }])).toMatchObject({
    code: 'invalid_command',
    errors: [{ pointer: '' }],
  });
});

describe('read-only fields', () => {
  test.each([
    ['/id', 1],
    ['/status', 'draft'],
    ['/author/id', 7],
  ])('may be tested: %s', (path, value) => {
    expect(change([{ op: 'test', path, value }])).toEqual({});
    expect(change([{ op: 'test', path, value: 'other' }])).toEqual({
      code: 'patch_test_failed',
      operation: 0,
    });
  });

  test.each<[object, string]>([
    [{ op: 'replace', path: '/id', value: 2 }, '/id'],
    [{ op: 'replace', path: '/author/id', value: 8 }, '/author'],
    [{ op: 'remove', path: '/status' }, '/status'],
    [{ op: 'add', path: '/createdAt', value: 'now' }, '/createdAt'],
  ])('may not be changed: %j', (operation, pointer) => {
    expect(change([operation])).toEqual({
      code: 'invalid_command',
      errors: [{ pointer, detail: 'Cannot be changed.' }],
    });
  });

  test('may be sent unchanged, and kept or omitted in a replaced document', () => {
    expect(change([{ op: 'replace', path: '/id', value: 1 }])).toEqual({});
    const { content } = ITEM;
    const read = { ...content, id: 1, status: 'published', author: { id: 7, name: 'Ada' }, createdAt: 'now' };
    expect(change([{ op: 'replace', path: '', value: { ...read, title: 'Two' } }])).toEqual({ title: 'Two' });
    expect(change([{ op: 'replace', path: '', value: { ...content, title: 'Two' } }])).toEqual({
      title: 'Two',
    });
  });

  test.each(['/createdAt', '/author/name', '/author', ''])(
    'and is not known here is not said to differ: %s',
    (path) => {
      const patch = [{ op: 'test', path, value: {} }];
      expect(change(patch)).toEqual({ code: 'patch_not_applicable', operation: 0, reason: 'not_comparable' });
    },
  );
});

describe('a patch reveals content', () => {
  const told = (operation: unknown) =>
    revealsContent(JsonPatch.parse([{ op: 'add', path: '/a', value: 1 }, operation]));

  test.each([
    { op: 'test', path: '/a', value: 1 },
    { op: 'copy', from: '/a', path: '/b' },
    { op: 'move', from: '/a', path: '/b' },
    { op: 'remove', path: '/tags/3' },
    { op: 'replace', path: '/tags/0', value: 1 },
    { op: 'add', path: '/tags/10', value: 1 },
    { op: 'add', path: '/tags/-', value: 1 },
  ])('by %j', (operation) => {
    expect(told(operation)).toBe(true);
  });

  test('but not by adding or replacing a field', () => {
    expect(told({ op: 'replace', path: '/a', value: 1 })).toBe(false);
    expect(told({ op: 'replace', path: '', value: {} })).toBe(false);
  });
});

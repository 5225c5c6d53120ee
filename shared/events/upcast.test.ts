import { expect, test } from 'vitest';
import { upcast } from './upcast.ts';

const definition = {
  type: 'article.drafted',
  version: 3,
  upcasters: {
    1: ({ label, ...rest }) => ({ ...rest, tags: [label ?? 'none'] }),
    2: (data) => ({ ...data, cover: null }),
  },
} as const satisfies Parameters<typeof upcast>[0];

test('brings the oldest version to the current one, step by step', () => {
  expect(upcast(definition, 1, { label: 'a' })).toEqual({ tags: ['a'], cover: null });
});

test('starts at the version that was stored', () => {
  expect(upcast(definition, 2, { tags: ['b'] })).toEqual({ tags: ['b'], cover: null });
});

test('leaves the stored data unchanged, even if an upcaster mutates its input', () => {
  const careless = {
    ...definition,
    upcasters: {
      ...definition.upcasters,
      1: (data: { readonly label?: unknown }) => Object.assign(data, { tags: [] }),
    },
  } as unknown as typeof definition;
  const data = { label: 'a' };
  expect(upcast(careless, 1, data)).toEqual({ label: 'a', tags: [], cover: null });
  expect(data).toEqual({ label: 'a' });
});

test('leaves the current version unchanged', () => {
  const data = { tags: [], cover: null };
  expect(upcast(definition, 3, data)).toBe(data);
});

test('fills in fields that an earlier release did not know, once the data is of the current version', () => {
  const grown = { ...definition, absent: { tags: [], place: null } };
  expect(upcast(grown, 1, { label: 'a' })).toEqual({ tags: ['a'], cover: null, place: null });
  expect(upcast(grown, 3, { tags: ['b'], cover: null, place: 'here' })).toEqual({
    tags: ['b'],
    cover: null,
    place: 'here',
  });
});

test('refuses the version of a later release', () => {
  expect(() => upcast(definition, 4, {})).toThrow('known up to version 3');
});

test('refuses a version without an upcaster', () => {
  expect(() => upcast({ ...definition, upcasters: {} }, 1, {})).toThrow('no upcaster from version 1');
});

test('an upcaster that fails is the fault of the event, reported without its content', () => {
  const trims = {
    ...definition,
    upcasters: {
      ...definition.upcasters,
      1: ({ label }: { label?: string }) => ({ tags: [JSON.parse(label as string)] }),
    },
  };
  expect(() => upcast(trims as never, 1, { label: 'secret' })).toThrow(
    new RangeError('the upcast of article.drafted of version 1 ended in SyntaxError'),
  );
});

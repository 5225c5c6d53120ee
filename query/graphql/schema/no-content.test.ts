import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref } from '#kernel/declare/fields.ts';
import { schemaOf } from './schema.ts';

const base = domain({ name: 'desk', roles: ['agent'] });
const { aggregate } = base;
const rights = { read: { anyone: true }, write: { agent: true } } as const;
const box = aggregate('box', {
  fields: { title: line(9).optional() },
  events: { made: { creates: [] }, changed: { changes: ['title'] } },
  commands: { make: { emits: 'made' }, change: { emits: 'changed' } },
  rights,
});
const shelf = aggregate('shelf', {
  parent: 'box',
  fields: { box: ref(box), title: line(9).optional() },
  events: { made: { creates: [] }, changed: { changes: ['title'] } },
  commands: { make: { emits: 'made' }, change: { emits: 'changed' } },
  rights,
});

test('a creation without content has no input, because GraphQL knows no empty one', () => {
  const schema = schemaOf(assemble(base, [box, shelf]));
  const { createBox, addShelf } = schema.getMutationType()?.getFields() ?? {};
  expect(createBox?.args).toEqual([]);
  expect(addShelf?.args.map(({ name }) => name)).toEqual(['boxId']);
  expect(schema.getType('BoxInput')).toBeUndefined();
});

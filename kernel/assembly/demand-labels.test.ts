import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { line, list, ref } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });

const labelled = (label: string) => () =>
  assemble(base, [
    base.aggregate('page', {
      label: label as 'title',
      fields: { title: line(9), writer: ref(base.user), rows: list({ text: line(9) }, { max: 3 }) },
      events: { made: { creates: ['title', 'writer'] } },
      commands: { make: { emits: 'made' } },
      rights: { read: { anyone: true }, write: { clerk: true } },
    }),
  ]);

test('a field with a value of its own can be the label', () => {
  expect(labelled('title')).not.toThrow();
});

test.each([
  ['writer', 'a reference'],
  ['rows', 'a list'],
  ['toString', 'not one of its fields'],
])('the label %s is refused, because it is %s', (label, what) => {
  expect(labelled(label)).toThrow(
    `page: the label ${label} is ${what}, which a reference cannot show: use a field with a value of its own.`,
  );
});

test('the compiler refuses such a label too', () => {
  const { aggregate, user } = base;
  aggregate('page', {
    // @ts-expect-error: a reference is no label.
    label: 'writer',
    fields: { title: line(9), writer: ref(user) },
    events: { made: { creates: ['title', 'writer'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true } },
  });
});

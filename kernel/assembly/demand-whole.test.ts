import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { line, list, states } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const declared = (change: object) => () => {
  const base = domain({ name: 'tried', roles: ['clerk'] });
  const page = base.aggregate('page', {
    fields: { title: line(9), rows: list({ text: line(9) }, { max: 3 }), status: states('draft', 'sent') },
    events: { made: { creates: ['title'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true } },
    ...change,
  } as never);
  return assemble(base as never, [page] as never);
};

test.each(['fields', 'events', 'commands', 'rights'])('a declaration without `%s` is refused', (part) => {
  expect(declared({ [part]: undefined })).toThrow(`page: the declaration has no \`${part}\``);
});

test.each(['titel', 'rows', 'status', 'toString'])('an event that creates with %s is refused', (name) => {
  expect(declared({ events: { made: { creates: ['title', name] } } })).toThrow(
    `page: the event made creates ${name}, which is not a field that forms can have: use another field.`,
  );
});

test.each(['titel', 'rows', 'toString'])('an event that carries %s is refused', (name) => {
  expect(declared({ events: { made: { creates: ['title'], carries: [name] } } })).toThrow(
    `page: the event made carries ${name}, which is neither a field with a value of its own nor a derived number`,
  );
});

test.each(['set', 'notes', 'toString'])('an event with the unknown word %s is refused', (word) => {
  const events = { made: { creates: ['title'] }, sent: { [word]: { status: 'sent' } } };
  expect(declared({ events })).toThrow(
    `page: the event sent has \`${word}\`, which is no word of events: use one of creates, changes, adds,`,
  );
});

test('a limit with an unknown word is refused, because it would count everything', () => {
  expect(declared({ limits: { few: { max: 3, says: 'Three.', while: 'draft' } } })).toThrow(
    'page: the limit few has `while`, which is no word of limits: use one of max, per, when, says.',
  );
});

test.each(['ends', 'subscribe', 'hidden'])('an event with `%s: false` is refused', (flag) => {
  const made = { creates: ['title'], ...(flag !== 'ends' && { [flag]: false }) };
  const events = { made, gone: { [flag]: false, ...(flag === 'subscribe' && { ends: true }) } };
  expect(declared({ events })).toThrow(
    /^page: the event \w+ has `\w+` with another value than true: remove it\.$/,
  );
});

test('a command that emits a list of events without a decision is refused', () => {
  expect(declared({ commands: { make: { emits: ['made'] } } })).toThrow(
    'page: the command make emits a list of events, but has no `decide` that chooses: declare it.',
  );
});

test('an order that lists do not have is refused', () => {
  expect(declared({ order: 'latest' })).toThrow(
    "page: lists cannot have the `order` latest: write 'oldest' or 'newest'.",
  );
  expect(declared({ order: 'oldest' })).not.toThrow();
});

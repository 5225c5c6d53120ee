import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { expenses } from '../examples/expenses/domain/domain.ts';
import { privateHelpdesk } from '../test/toy/private-helpdesk.ts';
import { domainFacts } from './derive-facts.ts';

test.each([publishing, expenses])(
  'every aggregate of a domain is described with its fields and commands',
  (domain) => {
    const { name, kinds } = domainFacts(domain);
    expect(name).toBe(domain.name);
    for (const kind of kinds) {
      const declared = domain.kinds[kind.name];
      expect(kind.fields.map(({ title }) => title)).toHaveLength(Object.keys(declared?.fields ?? {}).length);
      const commands = Object.values(declared?.commands ?? {}).filter(({ internal }) => !internal);
      expect(kind.commands.map((command) => command.name)).toEqual(commands.map((command) => command.name));
      expect(kind.list.path === undefined).toBe(kind.parent !== undefined);
      expect(kind.label).toBeDefined();
    }
  },
);

const kindOf = (domain: Domain, name: string) => domainFacts(domain).kinds.find((kind) => kind.name === name);

test('lists have the filters, orders and search that their operation accepts', () => {
  const list = kindOf(publishing, 'article')?.list;
  expect(list).toMatchObject({
    path: '/articles',
    hasSearch: true,
    sorts: ['-createdAt', 'createdAt', '-publishedAt', 'publishedAt'],
  });
  expect(list?.filters.map(({ name, type, of }) => [name, type, of])).toEqual([
    ['author', 'ref', 'user'],
    ['tag', 'set', undefined],
    ['status', 'states', undefined],
  ]);
});

test('children name their parent', () => {
  expect(kindOf(publishing, 'comment')).toMatchObject({
    parent: { kind: 'article', field: 'articleId' },
    label: 'text',
    owner: 'author',
  });
});

test('those who may choose an owner are named', () => {
  expect(kindOf(publishing, 'article')?.namers).toEqual(['admin']);
  expect(kindOf(privateHelpdesk, 'ticket')?.namers).toEqual(['agent', 'admin']);
});

test('forms describe their fields, and which are optional', () => {
  const form = kindOf(publishing, 'article')?.commands.find(({ does }) => does === 'create')?.form ?? [];
  expect(
    form.map(({ wire, type, isRequired, hasLines }) => [wire, type, isRequired, hasLines === true]),
  ).toEqual([
    ['authorId', 'ref', false, false],
    ['title', 'text', true, false],
    ['body', 'text', true, true],
    ['tags', 'set', false, false],
    ['cover', 'upload', false, false],
    ['publish', 'boolean', false, false],
  ]);
  expect(form[1]?.schema).toEqual({ maxLength: 200 });
});

test('items of lists have commands of their own, by the names of their links', () => {
  const claim = kindOf(expenses, 'claim');
  expect(
    claim?.lists.map(({ path, one, id, uploads }) => [path, one, id, uploads.map(({ rel }) => rel)]),
  ).toEqual([['items', 'item', 'id', ['receipt']]]);
  const ofItems = claim?.commands.flatMap(({ does, rel, list }) => (list === 'items' ? [[does, rel]] : []));
  expect(ofItems).toEqual([
    ['addItem', 'add-item'],
    ['changeItem', 'edit'],
    ['removeItem', 'remove-item'],
  ]);
});

test('views are described with their key, their numbers and their readers', () => {
  const [spending] = domainFacts(expenses).views;
  expect(spending).toMatchObject({
    path: 'spending',
    title: 'Spending',
    sorts: ['-team', 'team', '-paid', 'paid'],
  });
  expect(spending?.fields.map(({ name, type }) => [name, type])).toEqual([
    ['team', 'ref'],
    ['budget', 'integer'],
    ['waiting', 'integer'],
    ['approved', 'integer'],
    ['paid', 'integer'],
  ]);
  expect(spending?.filters.map(({ name, of }) => [name, of])).toEqual([['team', 'team']]);
  expect(spending?.readers).toEqual(['approver', 'accountant', 'admin']);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ID, OWNER, rulesOf } from '#kernel/decide/given.ts';
import { arbitrary } from '../test/arbitrary-event.ts';
import { describeKind } from '../test/decider-properties.ts';
import { article } from './article.ts';
import { publishing } from './publishing.ts';

const { given } = rulesOf(publishing);

const content = { title: 'One', body: 'Text', tags: ['a', 'b'], cover: null };
const drafted = ['drafted', content] as const;
const edited = (changes: Partial<typeof content | { cover: string | null }>) => ['edited', changes] as const;

const UUID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const OWN = `/uploads/${ID}-${UUID}.png`;
const OTHER = OWN.replace('0199', '0198');
const ELSEWHERE = 'https://example.com/a.png';

describe('drafting', () => {
  test('a new article', () => given(article).when('draft', content).yields(drafted));
  test('and publishing at once', () =>
    given(article)
      .when('draft', { ...content, publish: true })
      .yields(drafted, 'published'));
  test('with a picture elsewhere', () =>
    given(article)
      .when('draft', { ...content, cover: ELSEWHERE })
      .yields(['drafted', { ...content, cover: ELSEWHERE }]));
  test('with an upload of another article', () =>
    given(article)
      .when('draft', { ...content, cover: `/uploads/9-${UUID}.png` })
      .refuses('invalid_command'));
});

describe('editing', () => {
  test('one thing names only that', () =>
    given(article, drafted)
      .when('edit', { title: 'Two' })
      .yields(edited({ title: 'Two' })));
  test('everything', () => {
    const all = { title: 'Two', body: '', tags: [], cover: OWN };
    given(article, drafted, 'published').when('edit', all).yields(edited(all));
  });
  test('the order of tags', () =>
    given(article, drafted)
      .when('edit', { tags: ['b', 'a'] })
      .yields(edited({ tags: ['b', 'a'] })));
  test('the number of tags', () =>
    given(article, drafted)
      .when('edit', { tags: ['a'] })
      .yields(edited({ tags: ['a'] })));
  test('the cover away', () =>
    given(article, drafted, edited({ cover: OWN }))
      .when('edit', { cover: null })
      .yields(edited({ cover: null })));
  test.each([
    `/uploads/9-${UUID}.png`,
    `/uploads/80-${UUID}.png`,
    `/uploads/${UUID}.png`,
    '/uploads/a.png',
    '/uploads/../token',
  ])('the cover to an upload of another aggregate: %s', (cover) =>
    given(article, drafted).when('edit', { cover }).refuses('invalid_command'),
  );
  test.each([
    ['another took its place', [edited({ cover: OTHER })]],
    ['it was taken away', [edited({ cover: null })]],
    [
      'others came and went',
      [edited({ cover: OTHER }), edited({ title: 'Two' }), edited({ cover: ELSEWHERE })],
    ],
  ])('the cover to one that it lost when %s', (_, events) =>
    given(article, drafted, edited({ cover: OWN }), ...events)
      .when('edit', { cover: OWN })
      .refuses('invalid_command'),
  );
  test('the cover to what it is, whatever that is', () =>
    given(article, drafted, edited({ cover: '/uploads/a.png' }))
      .when('edit', { cover: '/uploads/a.png' })
      .changesNothing());
  test('to what it is', () => given(article, drafted).when('edit', content).changesNothing());
});

describe('publishing', () => {
  test('a draft', () => given(article, drafted).when('publish').yields('published'));
  test('again after it was taken back', () =>
    given(article, drafted, 'published', 'unpublished').when('publish').yields('published'));
  test('what is published', () => given(article, drafted, 'published').when('publish').changesNothing());
});

describe('unpublishing', () => {
  test('what is published', () =>
    given(article, drafted, 'published').when('unpublish').yields('unpublished'));
  test('a draft', () => given(article, drafted).when('unpublish').changesNothing());
});

describe('deleting', () => {
  test('a draft', () => given(article, drafted).when('delete').yields('deleted'));
  test('what is published', () => given(article, drafted, 'published').when('delete').yields('deleted'));
});

describe('the state', () => {
  test('holds the content across publishing and editing', () =>
    expect(given(article, drafted, 'published', edited({ title: 'Two' }), 'unpublished').state).toMatchObject(
      {
        status: 'present',
        fields: { author: OWNER, ...content, title: 'Two', status: 'draft', publishedAt: null },
      },
    ));
  test('of a deleted article keeps only the author', () =>
    expect(given(article, drafted, 'deleted').state).toEqual({
      status: 'ended',
      fields: { id: ID, author: OWNER },
    }));
});

describe('in general', () => {
  const { title, body, tags, cover } = arbitrary;
  const some = {
    title: fc.oneof(title, fc.constant('One')),
    body: fc.oneof(body, fc.constant('')),
    tags: fc.oneof(tags, fc.constant([])),
    cover: fc.oneof(cover, fc.constantFrom(OWN, OTHER)),
  };
  describeKind(publishing, 'article', {
    draft: fc.record({ ...some, publish: fc.boolean() }),
    edit: fc.record(some, { requiredKeys: [] }),
  });
});

import { expect, test } from 'vitest';
import type { Webhook } from '#shared/rest/webhook.ts';
import type { FieldFacts } from '../../domain-facts.ts';
import { isoOf, localOf } from '../base/time.ts';
import { toggled } from './endpoint-form.ts';
import { queryOf, spansAt, withFilters } from './search.ts';
import { atFields, bodyOf, rawOf } from './settings.ts';

const FILTERS: readonly FieldFacts[] = [
  { name: 'articleId', wire: 'articleId', title: 'Article', type: 'ref', of: 'article' },
];
const HIDDEN = '********';
/** The fields that a form shows. */
const WEBHOOK = {
  ...{
    url: 'https://shop.example/hooks',
    description: null,
    filter: { articleId: 8001 },
    payload: 'full',
    format: 'cloudevents',
    ordered: true,
  },
  ...{ limits: { ratePerSecond: 5, concurrency: 2 }, headers: { 'X-Team': HIDDEN, Authorization: HIDDEN } },
} as unknown as Webhook;

test('an unchanged form sends the same settings, and keeps hidden values', () => {
  const { url, description, filter, payload, format, ordered, limits, headers } = WEBHOOK;
  expect(bodyOf(rawOf(WEBHOOK), ['*'], FILTERS, WEBHOOK)).toEqual({
    ...{ url, description, filter, payload, format, ordered, limits, headers, eventTypes: ['*'] },
  });
});

test('filters and headers that are left empty are removed', () => {
  const raw = { ...rawOf(WEBHOOK), articleId: '', headers: `X-Team: red\n`, ratePerSecond: 'many' };
  expect(bodyOf(raw, ['*'], FILTERS, WEBHOOK)).toMatchObject({
    filter: { articleId: null },
    headers: { 'X-Team': 'red', Authorization: null },
    limits: { ratePerSecond: 'many' },
  });
});

test('an error is shown at its field, however deeply nested', () => {
  const errors = ['/filter/articleId', '/limits/concurrency', '/url'].map((pointer) => ({
    pointer,
    detail: '',
  }));
  const pointers = atFields({ status: 422, code: 'invalid_request', title: '', errors }).errors?.map(
    ({ pointer }) => pointer,
  );
  expect(pointers).toEqual(['/articleId', '/concurrency', '/url']);
});

test('all types of a kind replace its single types', () => {
  expect(toggled(['article.edited', 'user.updated'], 'article.*')).toEqual(['user.updated', 'article.*']);
  expect(toggled(['article.*'], 'article.*')).toEqual([]);
  expect(toggled([], 'user.updated')).toEqual(['user.updated']);
});

test('the address has the filters of the request', () => {
  const search = new URLSearchParams('state=failed&after=x&subject=+article-8001');
  expect(queryOf(search, { webhookId: '6001' }).toString()).toBe(
    'webhookId=6001&state=failed&subject=article-8001',
  );
  expect(withFilters(new URLSearchParams('state=failed'), { state: '', type: 'article.edited' })).toBe(
    '?type=article.edited',
  );
  expect(withFilters(new URLSearchParams('state=failed'), { state: '' })).toBe('');
});

test('yesterday ends where today begins', () => {
  const [, , [, today], [, since, until]] = spansAt(new Date(2026, 10, 21, 12)) as readonly [
    unknown,
    unknown,
    readonly string[],
    readonly string[],
  ];
  expect([until, Date.parse(until ?? '') - Date.parse(since ?? '')]).toEqual([today, 86_400_000]);
  expect(isoOf(localOf(since ?? ''))).toBe(since);
  expect([localOf(null), isoOf('')]).toEqual(['', '']);
});

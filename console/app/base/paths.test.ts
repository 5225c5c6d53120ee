import { expect, test } from 'vitest';
import { routeOf } from './paths.ts';

test.each([
  ['/console', 'overview', {}],
  ['/console/', 'overview', {}],
  ['/console/events', 'events', {}],
  ['/console/events/7f00', 'event', { id: '7f00' }],
  ['/console/data', 'data', {}],
  ['/console/data/articles', 'dataList', { kind: 'articles' }],
  ['/console/data/articles/new', 'dataNew', { kind: 'articles' }],
  ['/console/data/articles/8001', 'dataItem', { kind: 'articles', id: '8001' }],
  ['/console/data/articles/8001/do/edit', 'dataCommand', { kind: 'articles', id: '8001', command: 'edit' }],
  [
    '/console/data/articles/8001/new/comments',
    'dataNewUnder',
    { kind: 'articles', id: '8001', child: 'comments' },
  ],
  ['/console/data/claims/1/list/items/add', 'dataAdd', { kind: 'claims', id: '1', list: 'items' }],
  [
    '/console/data/claims/1/list/items/2',
    'dataListed',
    { kind: 'claims', id: '1', list: 'items', item: '2' },
  ],
  ['/console/views/spending', 'dataView', { view: 'spending' }],
  ['/console/items/articles/8001', 'item', { kind: 'articles', id: '8001' }],
  ['/console/webhooks/5001/deliveries/0199a1b2', 'delivery', { id: '5001', delivery: '0199a1b2' }],
  ['/console/webhooks/new', 'newWebhook', {}],
  ['/console/webhooks/deliveries', 'deliveries', {}],
  ['/account/webhooks', 'webhooks', {}],
  ['/account/webhooks/5001/edit', 'editWebhook', { id: '5001' }],
  ['/account/webhooksx', 'unknown', {}],
  ['/console/clients/new', 'newClient', {}],
  ['/console/clients/a%2Fb', 'client', { id: 'a/b' }],
  ['/console/clients/100%', 'client', { id: '100%' }],
  ['/console/nothing', 'unknown', {}],
  ['/elsewhere', 'unknown', {}],
])('%s shows %s', (path, view, parameters) => {
  expect(routeOf(path, '')).toMatchObject({ view, parameters });
});

test('the address contains the search', () => {
  expect(routeOf('/console/events', '?types=article.published').search.get('types')).toBe(
    'article.published',
  );
});

import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, list, picture } from '#kernel/declare/fields.ts';
import { aggregateOperations } from '#kernel/rest/operations.ts';
import { schemaOf } from './schema.ts';

const base = domain({ name: 'shop', roles: ['seller'] });
const ware = base.aggregate('ware', {
  fields: {
    title: line(9),
    front: picture({ external: true }),
    back: picture().optional(),
    views: list({ angle: picture({ external: true }), detail: picture().optional() }, { max: 3 }),
  },
  events: {
    offered: { creates: ['title', 'front', 'back'] },
    changed: { changes: ['title', 'front', 'back'] },
    viewAdded: { adds: 'views' },
    viewChanged: { updates: 'views' },
  },
  commands: {
    offer: { emits: 'offered' },
    change: { emits: 'changed' },
    addView: { emits: 'viewAdded' },
    changeView: { emits: 'viewChanged' },
  },
  rights: { read: { anyone: true }, write: { seller: true } },
});
const shop = assemble(base, [ware]);

test('a required file can be replaced, and only an optional one can be removed', () => {
  const requests = Object.values(aggregateOperations(shop)).flatMap(({ method, path, use }) =>
    use.does === 'putFile' || use.does === 'removeFile' ? [`${method} ${path}`] : [],
  );
  expect(requests).toEqual([
    'PUT /wares/{wareId}/front',
    'PUT /wares/{wareId}/back',
    'DELETE /wares/{wareId}/back',
    'PUT /wares/{wareId}/views/{viewId}/angle',
    'PUT /wares/{wareId}/views/{viewId}/detail',
    'DELETE /wares/{wareId}/views/{viewId}/detail',
  ]);
  const mutations = Object.keys(schemaOf(shop).getMutationType()?.getFields() ?? {});
  expect(mutations.filter((name) => /^(set|remove)Ware/.test(name))).toEqual([
    'setWareFront',
    'setWareBack',
    'removeWareBack',
    'setWareViewAngle',
    'setWareViewDetail',
    'removeWareViewDetail',
  ]);
});

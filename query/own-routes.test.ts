import { expect, test } from 'vitest';
import { ownRoutes } from './own-routes.ts';

test('routes that return a promise, or nothing, are refused in a sentence', () => {
  for (const routes of [async () => () => undefined, () => undefined])
    expect(() => ownRoutes(routes as never, { before: [] } as never)).toThrow(
      '`routes` of start returns no router',
    );
});

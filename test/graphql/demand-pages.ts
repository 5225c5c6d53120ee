import { expect } from 'vitest';

export type Page = {
  readonly nodes: readonly object[];
  readonly edges: readonly { readonly cursor: string }[];
  readonly pageInfo: object;
};

/** The fields of a page whose nodes have this field. */
export const pageFields = (field: string): string =>
  `nodes { ${field} } edges { cursor node { ${field} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount`;

/** The pages of a connection lead forward and back through all of its keys. */
export const demandPages = async (
  page: (args: string) => Promise<Page & { readonly keys: readonly unknown[] }>,
  all: readonly unknown[],
): Promise<void> => {
  const first = await page('first: 1');
  expect(first).toMatchObject({
    keys: all.slice(0, 1),
    totalCount: all.length,
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  });
  const cursor = first.edges[0]?.cursor ?? '';
  expect(first.pageInfo).toMatchObject({ startCursor: cursor, endCursor: cursor });
  const rest = await page(`first: 5, after: "${cursor}"`);
  expect(rest).toMatchObject({ keys: all.slice(1), pageInfo: { hasNextPage: false, hasPreviousPage: true } });
  const back = await page(`last: 1, before: "${rest.edges.at(-1)?.cursor}"`);
  expect(back).toMatchObject({ keys: all.slice(-2, -1), pageInfo: { hasNextPage: true } });
  expect(await page('last: 5')).toMatchObject({ keys: all, pageInfo: { hasPreviousPage: false } });
};

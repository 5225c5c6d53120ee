import { GraphQLError, parse, print, Token, visit } from 'graphql';
import { expect, test } from 'vitest';
import { dropTokens } from './drop-tokens.ts';

const TEXT = `query Posts($limit: Int = 3) {
  posts(limit: $limit, filter: { tag: "x" }) { ...Part }
}
fragment Part on Post { id title }`;

test('no token is kept, and the document stays the same', () => {
  const document = dropTokens(parse(TEXT));
  const tokens: unknown[] = [];
  visit(document, {
    enter(node) {
      tokens.push(...Object.values(node.loc ?? {}).filter((value) => value instanceof Token));
    },
  });
  expect(tokens).toEqual([]);
  expect(print(document)).toBe(print(parse(TEXT)));
});

test('errors still name the place of each node', () => {
  const places = (document: ReturnType<typeof parse>) => {
    const found: unknown[] = [];
    visit(document, { enter: (node) => void found.push(new GraphQLError('no', { nodes: [node] }).toJSON()) });
    return found;
  };
  expect(places(dropTokens(parse(TEXT)))).toEqual(places(parse(TEXT)));
});

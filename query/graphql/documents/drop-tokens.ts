import type { ASTNode, DocumentNode } from 'graphql';

/**
 * Keeps the place of each node, which errors name, without its tokens: each token leads to all others, and
 * together they take more memory than the document.
 */
export const dropTokens = (document: DocumentNode): DocumentNode => {
  drop(document);
  return document;
};

const drop = (node: ASTNode): void => {
  if (node.loc !== undefined) {
    const { start, end, source } = node.loc;
    Object.assign(node, { loc: { start, end, source } });
  }
  for (const [name, value] of Object.entries(node)) if (name !== 'loc') dropIn(value);
};

const dropIn = (value: unknown): void => {
  if (Array.isArray(value)) for (const each of value) dropIn(each);
  else if (isNode(value)) drop(value);
};

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'kind' in value;

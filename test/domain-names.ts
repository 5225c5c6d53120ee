import { wire } from '#kernel/base/names.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';

type Mention = { readonly path: string; readonly line: number; readonly text: string };

/** Finds names of a domain in production code. Comments may contain them, because examples help readers. */
export const findMentions = (domain: Domain, sources: ReadonlyMap<string, string>): readonly Mention[] => {
  const pattern = patternOf(domain);
  return [...sources].flatMap(([path, source]) =>
    withoutComments(path, source)
      .split('\n')
      .flatMap((text, index) => (pattern.test(text) ? [{ path, line: index + 1, text: text.trim() }] : [])),
  );
};

/**
 * Kinds by all their names, also within other names: `articleId`, `CommentAdded`, `filter_article_id`.
 * Reference fields and fields of several words as whole names, because a word such as `title` is common.
 * Roles in quotes, and between tags.
 */
const patternOf = (domain: Domain): RegExp => {
  const kinds = Object.values(domain.kinds).filter(({ name }) => name !== 'user');
  const parts = kinds.flatMap(({ name, plural, table, path }) => [name, plural, table, path]);
  const lists = kinds.flatMap(({ type }) =>
    ['s', 'Edge', 'Connection', 'Sort', 'Filter', 'Input', 'Changes'].map((end) => `${type}${end}`),
  );
  const roles = domain.roles.filter((role) => role !== 'anonymous' && role !== 'admin');
  return new RegExp(
    [
      `(?<![a-z])(?:${any(parts)})(?![a-z])`,
      `(?:${any(parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)))})(?![a-z])`,
      `\\b(?:${any([...lists, ...kinds.flatMap(fieldsOf)])})\\b`,
      `['"\`>](?:${any(roles)})['"\`<]`,
    ].join('|'),
  );
};

const any = (names: readonly string[]): string => [...new Set(names)].join('|');

const fieldsOf = ({ fields }: Kind): readonly string[] =>
  Object.keys(fields)
    .map((name) => wire(name, fields[name]))
    .filter((name) => /[A-Z]/.test(name));

const COMMENTS: Readonly<Record<string, RegExp>> = {
  sql: /--.*/g,
  graphql: /(?<=^|\s)#.*/gm,
  conf: /(?<=^|\s)#.*/gm,
  yaml: /(?<=^|\s)#.*/gm,
};
const OF_CODE = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm;

/** Keeps line numbers. */
const withoutComments = (path: string, source: string): string =>
  source.replaceAll(COMMENTS[path.slice(path.lastIndexOf('.') + 1)] ?? OF_CODE, (comment) =>
    comment.replaceAll(/[^\n]/g, ''),
  );

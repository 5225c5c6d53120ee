import { SETTINGS } from '#process/settings.ts';
import { COSTS } from '../../query/graphql/documents/cost.ts';
import { ANSWER_BYTES_MAX } from '../../query/graphql/documents/limits.ts';
import { COST_PER_UNIT } from '../../query/graphql/http/endpoint.ts';
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../../query/graphql/rules/list-limits.ts';
import { FILES_MAX } from '../../query/graphql/uploads/place-files.ts';

/** The tables of docs/graphql.md that the code determines, by the headings above them. */
const TABLES: Readonly<Record<string, () => string>> = {
  Limits: () =>
    table('| Limit | Default | |', [
      ...LIMITS.map(
        (name) => [`\`${name}\``, `\`${SETTINGS[name].fallback}\``, SETTINGS[name].description] as const,
      ),
      ['Page size', `${LIST_LIMIT_DEFAULT}`, `\`limit\`, \`first\` and \`last\`; at most ${LIST_LIMIT_MAX}.`],
      ['Response', `${ANSWER_BYTES_MAX / MEBIBYTE} MiB`, 'Maximum size of the data of a response.'],
      ['Files', `${FILES_MAX}`, 'Maximum number of files per request.'],
    ]),
  Cost: () =>
    table('| Part of an operation | Cost |', [
      ['an object', `${COSTS.object}`],
      [
        'a list or a connection',
        `its page size (${LIST_LIMIT_DEFAULT} if not given) times the cost of an item`,
      ],
      ['a field of a mutation', `${COSTS.mutation}, and the cost of what it selects`],
      ['a list with `filter: { search }`', `${COSTS.search} more`],
      ['a field with `at`', `${COSTS.snapshot} more, and what reading the log costs`],
      ['`totalCount`', `${COSTS.totalCount}`],
      ['an [aggregate](aggregates.md)', `${COSTS.aggregate}, and the cost of ${LIST_LIMIT_DEFAULT} groups`],
      ['one unit of the rate limit', `pays for ${COST_PER_UNIT}`],
    ]),
};
const LIMITS = [
  'GRAPHQL_TOKENS_MAX',
  'GRAPHQL_DEPTH_MAX',
  'GRAPHQL_ALIASES_MAX',
  'GRAPHQL_DIRECTIVES_MAX',
  'GRAPHQL_ROOT_FIELDS_MAX',
  'GRAPHQL_COST_MAX',
] as const satisfies readonly (keyof typeof SETTINGS)[];
const MEBIBYTE = 1_048_576;

const table = (head: string, rows: readonly (readonly string[])[]): string =>
  [head, head.replaceAll(/[^|]+/g, '---'), ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');

/**
 * The page with the current tables: replaces the first table below each heading, or adds one after its first
 * paragraph.
 */
export const withGraphqlTables = (page: string): string =>
  Object.entries(TABLES).reduce((text, [heading, make]) => {
    const [before = '', after] = text.split(`## ${heading}\n\n`);
    if (after === undefined) throw new Error(`docs/graphql.md has no heading ${heading}`);
    const [paragraph = ''] = after.split('\n\n');
    const rest = after.slice(paragraph.length).replace(/^\n\n(?:\|[^\n]*\n)+/, '\n');
    return `${before}## ${heading}\n\n${paragraph}\n\n${make()}\n${rest.replace(/^\n+/, '\n')}`;
  }, page);

import type { JsonObject } from '#kernel/base/json.ts';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { openApiDocument } from '../../query/openapi/document.ts';

export const OF_EXPENSES = openApiDocument({
  domain: expenses,
  publicUrl: 'https://annals.example',
  issuerUrl: 'https://annals.example',
  requireIfMatch: false,
});

type Schema = { readonly type?: string };
type Read = {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
};

/** The code that everybody writes first, for each list that is no stream: a read, and a loop over its items. */
export const loopsOver = ({ paths }: JsonObject): string => {
  const lists = Object.entries(paths as Readonly<Record<string, { readonly get?: Read }>>).filter(
    ([path, { get }]) => {
      const { 'text/event-stream': stream, ...others } = get?.responses[200]?.content ?? {};
      const isList = Object.values(others).some(({ schema }) => schema?.type === 'array');
      return isList && stream === undefined && !path.includes('{');
    },
  );
  if (lists.length === 0) throw new Error('there is no list');
  return [
    "import createClient from 'openapi-fetch';",
    "import type { paths } from './rest.js';",
    'const client = createClient<paths>();',
    ...lists.map(
      ([path]) => `for (const each of (await client.GET('${path}')).data ?? []) Object.keys(each);`,
    ),
  ].join('\n');
};

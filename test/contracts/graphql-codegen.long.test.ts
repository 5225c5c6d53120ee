import { execFile } from 'node:child_process';
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { printSchema } from 'graphql';
import { expect, test } from 'vitest';
import { readManifest } from '../../query/graphql/documents/manifest.ts';
import { schema } from '../engines/schema.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

const CONFIG = {
  schema: 'schema.graphql',
  documents: 'app.ts',
  generates: {
    './gql/': {
      preset: 'client',
      presetConfig: { persistedDocuments: true },
      config: { useTypeImports: true, scalars: { DateTime: 'string' } },
    },
  },
};

/** User code: correct, and wrong where a comment says so. */
const APP = `import { graphql } from './gql/gql';
import { type TypedDocumentString } from './gql/graphql';
import type { ResultOf, VariablesOf } from '@graphql-typed-document-node/core';

const Latest = graphql(\`
  query Latest($limit: Int!) {
    posts(limit: $limit, filter: { status: published }) { id title createdAt author { name email } }
  }
\`);
const variables: VariablesOf<typeof Latest> = { limit: 10 };
export const titles = ({ posts }: ResultOf<typeof Latest>): string[] => posts.map(({ title, author, createdAt }) => title + author.name + createdAt.slice(0, 10));
export const emails = ({ posts }: ResultOf<typeof Latest>): (string | null | undefined)[] => posts.map(({ author }) => author.email);
// @ts-expect-error Not asked for.
export const bodies = ({ posts }: ResultOf<typeof Latest>) => posts.map(({ body }) => body);
// @ts-expect-error A number.
export const wrong: VariablesOf<typeof Latest> = { limit: '10' };

const Create = graphql(\`
  mutation Create($input: PostInput!) {
    createPost(input: $input) { id status }
  }
\`);
export const input: VariablesOf<typeof Create> = { input: { title: 'T', body: '' } };
export const status = ({ createPost }: ResultOf<typeof Create>): 'draft' | 'published' => createPost.status;
export { variables };
`.replace("import { type TypedDocumentString } from './gql/graphql';\n", '');

const COMPILER = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2024',
    skipLibCheck: true,
    types: [],
  },
  include: ['app.ts', 'gql'],
};

test('GraphQL Code Generator makes clients of our schema with correct types', async () => {
  // Within the project, so that the generated code finds its imports.
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  await using made = await mkdtempDisposable(join(cache, 'codegen-'));
  const folder = made.path;
  await writeFile(join(folder, 'schema.graphql'), printSchema(schema));
  await writeFile(join(folder, 'codegen.json'), JSON.stringify(CONFIG));
  await writeFile(join(folder, 'app.ts'), APP);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(COMPILER));
  const bin = join(root, 'node_modules/.bin');
  await run(join(bin, 'graphql-codegen'), ['--config', 'codegen.json'], { cwd: folder });
  const compiled = await run(join(bin, 'tsc'), ['-p', '.'], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  expect(compiled.stdout).toBe('');
  // The input of \`annals documents load\`.
  const documents = readManifest(await readFile(join(folder, 'gql/persisted-documents.json'), 'utf8'));
  expect(documents.map(({ text }) => /^\w+ \w+/.exec(text)?.[0])).toEqual([
    'query Latest',
    'mutation Create',
  ]);
});

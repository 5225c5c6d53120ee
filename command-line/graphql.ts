import { readFile } from 'node:fs/promises';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { fileFailure } from '#shared/folder.ts';
import type { createDocuments } from '../query/graphql/documents/documents.ts';
import { readManifest } from '../query/graphql/documents/manifest.ts';
import {
  listPersistedDocuments,
  migratePersistedDocuments,
  type PersistedDocument,
  removePersistedDocuments,
  savePersistedDocuments,
} from '../query/graphql/documents/persisted-documents.ts';
import type { Command } from './arguments/command.ts';
import { type Installation, openInstallation } from './installation/installation.ts';
import type { Terminal } from './terminal.ts';

const NAME = /\b(?:query|mutation|subscription)\s+(\w+)/;

export const documentsLoad: Command = {
  name: 'documents load',
  summary: 'Loads GraphQL documents that clients can send by id.',
  positionals: ['<file>'],
  options: {},
  examples: ['documents load persisted-documents.json', 'documents load query.graphql'],
  run: ({ positionals: [file = ''] }, terminal) =>
    withDocuments(terminal, async (pool, { config }) => {
      const found = await readDocuments(file);
      const documents = await import('../query/graphql/documents/documents.ts');
      const { schemaOf } = await import('../query/graphql/schema/schema.ts');
      const { prepare } = documents.createDocuments({
        domain: terminal.domain,
        schema: schemaOf(terminal.domain),
        limits: config.graphql.limits,
        suggests: true,
      });
      const wrong = found.flatMap((document) => faultsOf(document, prepare(document.text)));
      if (wrong.length > 0)
        throw new StartRefused(`Nothing was loaded, because these would be refused:\n${wrong.join('\n')}`);
      await savePersistedDocuments(pool, found);
      await terminal.write(`${found.length} ${found.length === 1 ? 'document is' : 'documents are'} loaded.`);
      const { persistedDocuments: mode } = config.graphql;
      if (mode === 'prefer' || mode === 'enforce') return;
      terminal.complain(
        `PERSISTED_DOCUMENTS is ${mode}: set it to prefer or enforce so that the server uses them.`,
      );
    }),
};

export const documentsList: Command = {
  name: 'documents list',
  summary: 'Lists the loaded GraphQL documents.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each in full, as one line of JSON.' } },
  examples: ['documents list', 'documents list --json'],
  run: ({ flags }, terminal) =>
    withDocuments(terminal, async (pool) => {
      for (const document of await listPersistedDocuments(pool)) {
        const line = `${document.id}  ${nameOf(document)}  loaded ${document.loadedAt.toISOString()}`;
        await terminal.write(flags.has('json') ? JSON.stringify(document) : line);
      }
    }),
};

export const documentsRemove: Command = {
  name: 'documents remove',
  summary: 'Removes a loaded GraphQL document, within seconds.',
  positionals: ['<id>'],
  options: {},
  examples: ['documents remove 3f6c…'],
  run: ({ positionals: [id = ''] }, terminal) =>
    withDocuments(terminal, async (pool) => {
      if ((await removePersistedDocuments(pool, [id])) === 0)
        throw new StartRefused(`There is no document ${id}.`);
      await terminal.write(`${id} was removed.`);
    }),
};

const withDocuments = async (
  terminal: Terminal,
  work: (pool: Pool, installation: Installation) => Promise<void>,
): Promise<void> => {
  await using installation = await openInstallation(terminal);
  await using pool = openPool({
    url: installation.databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax: 1,
  });
  await migratePersistedDocuments(pool);
  await work(pool, installation);
};

const readDocuments = async (file: string): Promise<readonly PersistedDocument[]> => {
  const content = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new StartRefused(
      fileFailure(cause) ??
        `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`,
      {
        cause,
      },
    );
  });
  try {
    return readManifest(content);
  } catch (cause) {
    throw new StartRefused(
      `${file} is neither a manifest of documents (client-preset, Relay, Apollo) nor a document.`,
      { cause },
    );
  }
};

type Prepared = ReturnType<ReturnType<typeof createDocuments>['prepare']>;

const faultsOf = (document: PersistedDocument, prepared: Prepared): readonly string[] =>
  'document' in prepared
    ? []
    : prepared.map(({ message }) => `  ${nameOf(document)} (${document.id}): ${message}`);

const nameOf = ({ text }: PersistedDocument): string => NAME.exec(text)?.[1] ?? 'without a name';

/** The schema of this release, independent of settings. Excludes the services of GRAPHQL_COMPOSE. */
export const graphqlSchema: Command = {
  name: 'graphql schema',
  summary: 'Prints the GraphQL schema (SDL) as a Federation 2 subgraph, for gateways and code generators.',
  positionals: [],
  options: {},
  examples: ['graphql schema > annals.graphql'],
  async run(_given, terminal) {
    const { subgraphSdlOf } = await import('../query/graphql/federation/sdl.ts');
    return terminal.write(subgraphSdlOf(terminal.domain).trimEnd());
  },
};

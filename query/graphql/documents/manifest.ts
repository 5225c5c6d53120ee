import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { PersistedDocument } from './persisted-documents.ts';

const DOCUMENTS_MAX = 10_000;
const id = z.string().min(1).max(200);
const text = z.string().min(1).max(1_048_576);

/** The format of GraphQL Code Generator's client-preset and of the Relay compiler: texts by id. */
const ByIds = z.record(id, text).refine((documents) => Object.keys(documents).length <= DOCUMENTS_MAX, {
  error: `more than ${DOCUMENTS_MAX} documents`,
});

/** The format of Apollo's manifest generator. */
const ApolloManifest = z.object({
  format: z.literal('apollo-persisted-query-manifest'),
  version: z.literal(1),
  operations: z.array(z.object({ id, body: text })).max(DOCUMENTS_MAX),
});

/** Reads a manifest, or a single document, whose id is its hash. Throws if it is neither. */
export const readManifest = (content: string): readonly PersistedDocument[] => {
  if (!content.trimStart().startsWith('{') || isDocument(content)) {
    return [{ id: createHash('sha256').update(content).digest('hex'), text: content }];
  }
  const json: unknown = JSON.parse(content);
  const apollo = ApolloManifest.safeParse(json);
  if (apollo.success) return apollo.data.operations.map(({ id, body }) => ({ id: bare(id), text: body }));
  return Object.entries(ByIds.parse(json)).map(([id, text]) => ({ id: bare(id), text }));
};

/**
 * A document in short form begins with a brace, as JSON does. After it comes a name; in JSON, a string or the
 * end.
 */
const isDocument = (content: string): boolean => !/^\s*\{\s*["}]/.test(content);

/** Without the algorithm, as in look-ups. */
const bare = (id: string): string => id.replace(/^sha256:/, '');

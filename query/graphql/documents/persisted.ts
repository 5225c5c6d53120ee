import { createHash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { GraphqlSettings } from '#process/config.ts';
import type { PersistedDocuments } from './persisted-documents.ts';

/**
 * How requests may name documents instead of sending them. `off`: not at all. `apq`: by the hash of one sent
 * before. `prefer`: also by the id of a loaded one. `enforce`: loaded ones only.
 */
export type PersistedMode = GraphqlSettings['persistedDocuments'];

/** How a request names its document, in any of the formats of clients. */
export type Named = {
  readonly query?: string | undefined;
  readonly documentId?: string | undefined;
  /** Automatic persisted queries: the SHA-256 of the text in hex. */
  readonly apqHash?: string | undefined;
};

/** Finds the text of the named document, or throws the error that the client library expects. */
export type ResolveDocument = (named: Named) => Promise<string>;

type Options = { readonly mode: PersistedMode; readonly loaded: PersistedDocuments };

const SENT_BYTES_MAX = 32 * 1024 * 1024;

export const createResolveDocument = ({ mode, loaded }: Options): ResolveDocument => {
  const sent = new LRUCache<string, string>({
    maxSize: SENT_BYTES_MAX,
    sizeCalculation: (text) => 2 * text.length + 1,
  });
  const resolveSent = (text: string, hash: string): string => {
    // Otherwise a client could store its own text under the hash of another’s.
    if (hash !== hashOf(text))
      throw refuse('PERSISTED_QUERY_HASH_MISMATCH', 'The hash does not match the query.');
    sent.set(hash, text);
    return text;
  };
  const resolveNamed = async (id: string): Promise<string> => {
    const text =
      (mode === 'apq' ? undefined : await loaded.find(id)) ??
      (mode === 'enforce' ? undefined : sent.get(withoutPrefix(id)));
    if (text !== undefined) return text;
    if (mode === 'enforce') throw refuse('PERSISTED_QUERY_NOT_IN_LIST', 'The document is not loaded.');
    throw refuse('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
  };
  return async ({ query, documentId, apqHash }) => {
    const id = documentId ?? apqHash;
    if (id !== undefined && mode === 'off')
      throw refuse('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported');
    if (query === undefined || query === '') {
      if (id === undefined)
        throw refuse('document_missing', 'The request has neither a query nor a documentId.');
      return resolveNamed(id);
    }
    if (mode === 'enforce') {
      if (await loaded.find(id ?? hashOf(query)).then((text) => text === query)) return query;
      if (id === undefined)
        throw refuse('PERSISTED_QUERY_ID_REQUIRED', 'Only loaded documents are accepted: send a documentId.');
      throw refuse('PERSISTED_QUERY_NOT_IN_LIST', 'The document is not loaded.');
    }
    return id === undefined ? query : resolveSent(query, withoutPrefix(id));
  };
};

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const withoutPrefix = (id: string): string => id.replace(/^sha256:/, '');

const refuse = (code: string, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } });

import type { Noted } from './noted.ts';

/** The reader, and the request. */
export type ReadBy = {
  /** As in events: `user:7001`, `anonymous`. */
  readonly actor: string;
  readonly reader: number | null;
  /** The OAuth client of the token. */
  readonly client: string | null;
  readonly via: Via;
  /** The operation of the interface: its id in OpenAPI, or the name of an operation of GraphQL. */
  readonly operation: string;
  /** The names of its parameters, or the hash of its document; never a value, which may be personal. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly request: string;
  /** Whether nothing may be shown without an entry, whatever the aggregate says. No part of the entry. */
  readonly isAuditor?: boolean;
};

type Via =
  | 'rest'
  | 'graphql'
  | 'stream'
  | 'mcp'
  | 'webhook'
  | 'export'
  | 'file'
  | 'own route'
  | 'command line';

/** An entry of the log of reads: what one answer showed of one kind. */
export type ReadEntry = Omit<ReadBy, 'isAuditor'> & {
  readonly at: string;
  readonly kind: string;
  readonly items: readonly number[];
  readonly fields: readonly string[];
  /** How many answers before it were served without an entry, because the log could not be written. */
  readonly missing?: number;
};

export const entryOf = (by: ReadBy, at: string, { kind, items, fields }: Noted): ReadEntry => ({
  ...{ at, actor: by.actor, reader: by.reader, client: by.client, via: by.via },
  ...{ operation: by.operation, query: by.query, request: by.request },
  ...{ kind: kind.name, items, fields },
});

/** The name of no kind. */
const MISSING = 'missing';

/** The entry that says how many are missing before it. */
export const missingEntry = (at: string, missing: number): ReadEntry => ({
  ...{ at, actor: 'system:read-log', reader: null, client: null, via: 'rest', operation: MISSING, query: {} },
  ...{ request: '', kind: MISSING, items: [], fields: [], missing },
});

import type { Reading } from '#kernel/base/rest/readers.ts';
import { READERS } from '#kernel/conditions/rights.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { StoredEntry } from '#shared/read-log/entries.ts';
import { noteOf } from '#shared/read-log/noted.ts';

/** Whichever fields are logged. */
export const noteReaders = (kind: Kind): ((id: number) => void) => {
  const note = noteOf({ name: kind.name, reads: kind.reads && { ...kind.reads, only: undefined } });
  return (id) => note?.(id, [READERS]);
};

export const readingOf = ({ number, entry }: StoredEntry): Reading => {
  const { at, actor, client, via, operation, query, request, fields } = entry;
  return { number, at, actor, client, via, operation, query, request, fields: [...fields] } as Reading;
};

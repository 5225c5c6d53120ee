import type { Domain } from '#kernel/registry/registry.ts';
import { createKindReads, type KindReads } from '../reads/reads.ts';
import type { ReadConnections } from '../rows/searches.ts';
import type { Replicas, Spread } from './replicas.ts';

type Options = ReadConnections & { readonly domain: Domain; readonly replicas: Pick<Replicas, 'spread'> };

/** Spreads the reads of aggregates and views over the replicas. Look-ups by other parts go to the primary. */
export const spreadKindReads = (primary: KindReads, { replicas, ...connections }: Options): KindReads =>
  spreadOver(
    replicas.spread((server) => createKindReads({ ...connections, ...server })),
    primary,
  );

const spreadOver = (kinds: Spread<KindReads>, primary: KindReads): KindReads => ({
  find: primary.find,
  item(kind) {
    const reads = kinds.of((each) => each.item(kind));
    return (reader) => reads.read((read) => read(reader));
  },
  items(kind, list) {
    const reads = kinds.of((each) => each.items(kind, list));
    return {
      list: (reader, asked) => reads.read((read) => read.list(reader, asked)),
      item: (reader) => reads.read((read) => read.item(reader)),
    };
  },
  list(kind) {
    const reads = kinds.of((each) => each.list(kind));
    return (reader, asked) => reads.read((read) => read(reader, asked));
  },
  view(view) {
    const reads = kinds.of((each) => each.view(view));
    return {
      list: (reader, asked) => reads.read((read) => read.list(reader, asked)),
      item: (reader) => reads.read((read) => read.item(reader)),
    };
  },
  listOfUser(kind) {
    const reads = kinds.of((each) => each.listOfUser(kind));
    return (reader, asked) => reads.read((read) => read(reader, asked));
  },
});

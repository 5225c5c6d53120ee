// The exports of `annals/tanstack` in the npm package: collections of TanStack DB, which is an optional peer.
// biome-ignore lint/performance/noBarrelFile: what a package exports is one.
export { annalsCollection } from '../tanstack/collection.ts';
export { annalsCommand } from '../tanstack/mutations.ts';
export type {
  AnnalsCollectionConfig,
  CollectionOptions as AnnalsCollectionOptions,
  CommandOptions as AnnalsCommandOptions,
  Connection,
  Utils as AnnalsCollectionUtils,
} from '../tanstack/types.ts';

import { later } from '../later.ts';

/** The schemas of answers about any aggregate, which only descriptions of the interface read. */
export const ANSWERS_OF_ITEMS = {
  history: later('The module of the answers of histories', () => import('./history.ts')),
  readers: later('The module of the answers of the log of reads', () => import('./readers.ts')),
  itemProof: later('The module of the lines of an item proof', () => import('./item-proof.ts')),
} as const;

import type { OutsideHead } from '../heads/tree-head-file.ts';

/** An older release has added to the chain meanwhile. The follower starts again, and catches up first. */
export class TreeBehind extends Error {
  constructor(size: number, count: number) {
    super(`the tree over the log has ${size} events, and the chain ${count}`);
    this.name = 'TreeBehind';
  }
}

/** Nothing is signed until a person has decided what is right. The chain goes on. */
export class TreeRefused extends Error {
  constructor(message: string) {
    super(`${message} Nothing is signed: run audit verify.`);
    this.name = 'TreeRefused';
  }
}

export const edited = (size: number): TreeRefused =>
  new TreeRefused(
    `The tree over ${size} events differs from its signed head: somebody has changed the chain or the tree in the database.`,
  );

export const differs = (file: string, { size }: OutsideHead): TreeRefused =>
  new TreeRefused(`${file} covers ${size} events, and the log has others in their place.`);

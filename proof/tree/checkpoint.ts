import type { LogIdentity } from '#kernel/base/brands.ts';
import { HASH_BYTES } from '../stored/chain.ts';

/** The head of a tree (C2SP tlog-checkpoint): the text of a signed note. */
export type Checkpoint = { readonly origin: string; readonly size: number; readonly root: Buffer };

/** The name of a log of Annals among all logs. A log that lost events has another identity, and so another name. */
export const originOf = (log: LogIdentity): string => `annals/${log}`;

export const writeCheckpoint = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`;

const CHECKPOINT = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*$/;

/** Undefined if the text is no checkpoint. */
export const parseCheckpoint = (text: string): Checkpoint | undefined => {
  const [, origin, size, encoded = ''] = CHECKPOINT.exec(text) ?? [];
  const root = Buffer.from(encoded, 'base64');
  return origin === undefined || root.length !== HASH_BYTES
    ? undefined
    : { origin, size: Number(size), root };
};

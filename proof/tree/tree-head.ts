import type { LogIdentity } from '#kernel/base/brands.ts';
import { HASH_BYTES } from '../stored/chain.ts';

/** The head of a tree (C2SP tlog-checkpoint): the text of a signed note. */
export type TreeHead = { readonly origin: string; readonly size: number; readonly root: Buffer };

/** The name of a log of Annals among all logs. A log that lost events has another identity, and so another name. */
export const originOf = (log: LogIdentity): string => `annals/${log}`;

export const writeTreeHead = ({ origin, size, root }: TreeHead): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`;

const FORM = /^([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*$/;

/** Undefined if the text is none. */
export const parseTreeHead = (text: string): TreeHead | undefined => {
  const [, origin, size, encoded = ''] = FORM.exec(text) ?? [];
  const root = Buffer.from(encoded, 'base64');
  return origin === undefined || root.length !== HASH_BYTES || !Number.isSafeInteger(Number(size))
    ? undefined
    : { origin, size: Number(size), root };
};

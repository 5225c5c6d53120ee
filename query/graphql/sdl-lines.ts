import type { Kind } from '#kernel/registry/registry.ts';
import type { Member } from '../sources.ts';
import { enumName } from './names.ts';

export type Line = readonly [says: string, text: string];

export const describe = (says: string | undefined, text: string): string =>
  says === undefined ? text : `${JSON.stringify(says)}\n${text}`;
export const block = (says: string | undefined, head: string, lines: readonly Line[]): string =>
  lines.length === 0 ? '' : describe(says, `${head} {\n${lines.map(([each, text]) => describe(each, text)).join('\n')}\n}`);

export const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1).replace(/\.?$/, '.')}`;

export const valueType = (kind: Kind, member: Pick<Member, 'name' | 'def' | 'target'>): string =>
  member.target ? member.target.type : member.def.values ? enumName(kind, member) : member.def.graphql;

import type { StreamName } from '#shared/brands.ts';

/** The table of each kind of stream that the read model is made from; every other stream is none of its business. */
const TABLES = { user: 'users', article: 'articles', comment: 'comments', webhook: 'webhooks' } as const;

export type TableName = (typeof TABLES)[keyof typeof TABLES];

const STREAM = /^(user|article|comment|webhook)-(.*)$/;
const ID = /^[1-9]\d{0,15}$/;

export const isProjected = ({ stream }: { readonly stream: StreamName }): boolean => STREAM.test(stream);

/** The row that a stream is the history of. A stream that was named by mistake has none. */
export const rowOf = (stream: StreamName): { readonly table: TableName; readonly id: number } | undefined => {
  const [, kind, key = ''] = STREAM.exec(stream) ?? [];
  return ID.test(key) ? { table: TABLES[kind as keyof typeof TABLES], id: Number(key) } : undefined;
};

import { oncePer } from '#kernel/base/once-per.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { AskedRows } from '../../kinds/list-rows.ts';
import type { Source } from '../../rows/source.ts';
import { sourcesOf } from '../../rows/sources.ts';
import type { WebhookRow as Webhook } from '../../webhooks/representation.ts';

type Common = {
  /** The GraphQL type. */
  readonly __typename: string;
  readonly id: number;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};
/** An aggregate, from which its fields are resolved. */
export type Row = Common & Readonly<Record<string, unknown>>;
/** An item of a list. */
export type ItemRow = Readonly<Record<string, unknown>>;
export type WebhookRow = Common & Omit<Webhook, 'url'> & { readonly url: string | null };

/** The aggregates by their types in GraphQL. */
export const sourcesByType = oncePer((domain: Domain): ReadonlyMap<string, Source> => {
  const { all, managed } = sourcesOf(domain);
  return new Map([...all, ...managed].map((source) => [source.kind.type, source]));
});

export const sourceOfType = (domain: Domain, type: string): Source => {
  const source = sourcesByType(domain).get(type);
  if (!source) throw new RangeError(`No rows are of the type ${type}`);
  return source;
};

/** Without a parent, all rows belong to the query itself, under the id 0. */
export const NO_PARENT = 0;

export type ListOf = {
  readonly type: string;
  /** The column with the id of the parent. */
  readonly parent: string | undefined;
  readonly asked: AskedRows;
};

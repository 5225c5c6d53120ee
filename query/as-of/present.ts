import type { Domain } from '#kernel/registry/registry.ts';
import type { Caller, Resource } from '#shared/policy.ts';
import type { Link } from '#shared/rest/fields.ts';
import { representationOf } from '../kinds/representation.ts';
import { resourceIn, withReferences } from '../kinds/rows.ts';
import { demandSource, type Row, sourcesOf } from '../sources.ts';
import { representWebhook, type WebhookRow, webhookResource } from '../webhooks/representation.ts';
import type { Kind } from './aggregates.ts';
import type { Past } from './past.ts';

/** Something as it was, in the form that it has now. */
type Shown = {
  readonly version: number | undefined;
  readonly item: { readonly _links: Readonly<Record<string, Link>> };
  /** What the right to read it depended on. */
  readonly resource: Resource;
};

/** Makes of the row that something had what was shown of it; of some, nothing was, though they had one. */
type Present = (past: Past, row: Row, caller: Caller) => Promise<Shown | undefined>;

export type WebhookThen = Omit<WebhookRow, 'url'> & { readonly url: string | null };

export const presentOf = (domain: Domain, kind: Kind): Present =>
  kind === 'webhook' ? presentWebhook(domain) : presentAggregate(domain, kind);

const presentAggregate = (domain: Domain, kind: Kind): Present => {
  const source = demandSource(sourcesOf(domain), kind);
  const representation = representationOf(domain, source);
  return async (past, row, caller) => {
    if (source.staysWhenEnded && row.deleted_at !== null) return undefined;
    const whole = await withReferences(source, row, (target, id) => past.row<Row>(target.name, id));
    const { represent, versionOf } = representation.to(caller);
    return whole && { version: versionOf(whole), item: represent(whole), resource: resourceIn(source, whole) };
  };
};

const presentWebhook =
  (domain: Domain): Present =>
  async ({ identity }, row, caller) => {
    const { url, ...rest } = row as unknown as WebhookThen;
    if (url === null) return undefined;
    const webhook: WebhookRow = { ...rest, url };
    return { version: webhook.version, item: representWebhook(webhook, { domain, caller, identity }), resource: webhookResource(webhook) };
  };

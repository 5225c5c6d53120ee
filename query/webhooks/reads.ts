import type { ItemAnswer, ListAnswer } from '#edge/rest/reads/answer.ts';
import type { LogIdentity, WebhookId } from '#kernel/base/brands.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { may, reachOf } from '#shared/policy.ts';
import type { Webhook, WebhookHealth } from '#shared/rest/webhook.ts';
import { attributesSql, type RoleAndAttributes } from '#shared/role-and-attributes.ts';
import { readHealthOfMany } from '#shared/webhooks/health.ts';
import { withheldOf } from '#shared/webhooks/withheld.ts';
import { createItemFinder } from '../kinds/find.ts';
import { askedFilter, sortOf } from '../kinds/list.ts';
import { listRows } from '../kinds/list-rows.ts';
import { resourceIn } from '../kinds/rows.ts';
import { selectionOfList } from '../kinds/selection.ts';
import { readList } from '../lists/list.ts';
import { stretchOfPage } from '../lists/walk.ts';
import type { Reader, Reads } from '../rest/read-routes.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import { createFinder } from '../rows/statement.ts';
import { representWebhook, type WebhookRow } from './representation.ts';

type WebhookDependencies = { readonly domain: Domain; readonly pool: Pool; readonly identity: LogIdentity };

/** Returns the present state. */
type WebhookReads = {
  listWebhooks(
    reader: Reader,
    asked: Parameters<Reads<'listWebhooks'>['listWebhooks']>[1],
  ): Promise<ListAnswer>;
  getWebhook(reader: Reader, asked: object): Promise<ItemAnswer>;
};

export const webhookReads = ({ domain, pool, identity }: WebhookDependencies): WebhookReads => {
  const webhooks = demandSource(sourcesOf(domain), 'webhook');
  const listing = { pool, source: webhooks, selection: selectionOfList(webhooks) };
  const findItem = createItemFinder(pool, webhooks);
  const readHealth = coalesce<WebhookId, WebhookHealth>((ids) => readHealthOfMany(pool, ids));
  const findOwners = ownerFinder(domain);
  const findOwner = coalesce<number, Owner>((ids) => findOwners(pool, ids));
  return {
    async listWebhooks({ caller }, asked) {
      const filter = askedFilter(webhooks, asked);
      const { sort, descending } = sortOf(webhooks, asked.sort);
      const list = await readList<'created_at', WebhookRow>({
        path: '/webhooks',
        asked,
        order: { column: 'created_at', descending },
        read: (walk) => listRows({ ...listing, caller }, { filter, sort, ...stretchOfPage(walk) }),
        represent: (row) => representWebhook(row, { domain, caller, identity }),
        create:
          reachOf(caller, 'webhook.manage').size > 0 ? { href: '/webhooks', method: 'POST' } : undefined,
      });
      // The representation of webhooks made these.
      const items = list.items as readonly Webhook[];
      const healths = await readHealthOfMany(
        pool,
        items.map(({ id }) => id as WebhookId),
      );
      return { ...list, items: items.map((item) => withHealth(item, healths.get(item.id as WebhookId))) };
    },

    async getWebhook({ caller, id }) {
      const found = await findItem(pathId(id), (row) =>
        may(caller, webhooks.right, resourceIn(webhooks, row)),
      );
      const webhook = found as unknown as WebhookRow;
      const [health, owner] = await Promise.all([
        readHealth(webhook.id as WebhookId),
        findOwner(webhook.owner_id),
      ]);
      const withheld =
        owner && withheldOf(domain, { eventTypes: webhook.event_types, scopes: webhook.scopes }, owner);
      return {
        kind: 'item',
        version: webhook.version,
        item: {
          ...representWebhook(webhook, { domain, caller, identity }),
          ...(withheld && { withheld: [...withheld] }),
          ...(health && { health }),
        },
      };
    },
  };
};

const withHealth = (item: Webhook, health: WebhookHealth | undefined): Webhook => ({
  ...item,
  ...(health && { health }),
});

type Owner = { readonly id: number } & RoleAndAttributes;

const ownerFinder = (domain: Domain) =>
  createFinder<Owner>(
    (condition) =>
      `select t.id, t.role, ${attributesSql(domain, 't')} as attributes from read_model.users t where ${condition} and t.deleted_at is null`,
  );

import type { Later } from '#kernel/base/later.ts';
import { type PartName, serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { AGGREGATES } from '#kernel/rest/aggregate-operations.ts';
import { WEBHOOK_COMMANDS } from '#shared/commands/command.ts';
import { VIEW_TABLES } from '#shared/read-model/tables.ts';
import { OPERATIONS_OF_PARTS, VIEW_OPERATIONS } from '#shared/rest/operations.ts';

/** The code that the core asks for without waiting, beside that of the words of declarations. */
export const NEEDED = {
  aggregates: AGGREGATES,
  accounts: OPERATIONS_OF_PARTS.accounts,
  webhooks: OPERATIONS_OF_PARTS.webhooks,
  webhookCommands: WEBHOOK_COMMANDS,
  proof: OPERATIONS_OF_PARTS.proof,
  viewOperations: VIEW_OPERATIONS,
  viewTables: VIEW_TABLES,
} as const;

const servesThe = (part: PartName) => (domain: Domain) => serves(domain, part);
const hasViews = ({ views }: Domain): boolean => views.length > 0;

const NEEDED_BY: Readonly<Record<keyof typeof NEEDED, (domain: Domain) => boolean>> = {
  aggregates: servesThe('aggregates'),
  accounts: servesThe('accounts'),
  webhooks: servesThe('webhooks'),
  webhookCommands: servesThe('webhooks'),
  proof: servesThe('proof'),
  viewOperations: hasViews,
  viewTables: hasViews,
};

/** Loads what an assembled domain and its parts need. */
export const loadNeeded = async (domain: Domain): Promise<void> => {
  const all: readonly (readonly [string, Later<unknown>])[] = Object.entries(NEEDED);
  const needed = all.filter(([name]) => NEEDED_BY[name as keyof typeof NEEDED](domain));
  await Promise.all(needed.map(([, each]) => each.load()));
};

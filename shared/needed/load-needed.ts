import type { Later } from '#kernel/base/later.ts';
import { type PartName, serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { WEBHOOK_COMMANDS } from '#shared/commands/command.ts';
import { VIEW_TABLES } from '#shared/read-model/tables.ts';
import { OPERATIONS_OF_PARTS, VIEW_OPERATIONS } from '#shared/rest/operations.ts';

const OF_PARTS: Readonly<Partial<Record<PartName, readonly Later<unknown>[]>>> = {
  accounts: [OPERATIONS_OF_PARTS.accounts],
  webhooks: [OPERATIONS_OF_PARTS.webhooks, WEBHOOK_COMMANDS],
  proof: [OPERATIONS_OF_PARTS.proof],
};

/** Loads the code of the served parts, and of views, that the core asks for without waiting. */
export const loadNeeded = async (domain: Domain): Promise<void> => {
  const needed = Object.entries(OF_PARTS).flatMap(([part, all]) =>
    serves(domain, part as PartName) ? all : [],
  );
  const ofViews = domain.views.length === 0 ? [] : [VIEW_OPERATIONS, VIEW_TABLES];
  await Promise.all([...needed, ...ofViews].map((each) => each.load()));
};

import type { Later } from '#kernel/base/later.ts';
import { type PartName, serves, type WithParts } from '#kernel/registry/parts.ts';
import { WEBHOOK_COMMANDS } from '#shared/commands/command.ts';
import { OPERATIONS_OF_PARTS } from '#shared/rest/operations.ts';

const OF_PARTS: Readonly<Partial<Record<PartName, readonly Later<unknown>[]>>> = {
  accounts: [OPERATIONS_OF_PARTS.accounts],
  webhooks: [OPERATIONS_OF_PARTS.webhooks, WEBHOOK_COMMANDS],
  proof: [OPERATIONS_OF_PARTS.proof],
};

/** Loads the code of the served parts that the core asks for without waiting. */
export const loadNeeded = async (domain: WithParts): Promise<void> => {
  const needed = Object.entries(OF_PARTS).flatMap(([part, all]) =>
    serves(domain, part as PartName) ? all : [],
  );
  await Promise.all(needed.map((each) => each.load()));
};

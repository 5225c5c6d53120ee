import type { Domain } from '#kernel/registry/registry.ts';
import type { AggregateOperation } from '#kernel/rest/operation.ts';
import { operationsOf } from '#shared/rest/operations.ts';

export type Use = AggregateOperation['use'];

/**
 * The effect of an operation on an aggregate; undefined for operations of the kernel. Reads of users are
 * declared by the kernel, and look the same.
 */
export const useOf = (domain: Domain, id: string): Use | undefined => {
  const operation = operationsOf(domain)[id];
  if (operation?.of === 'aggregate') return operation.use;
  const { user } = domain.kinds;
  const does = READS_OF_USERS[id];
  return user === undefined || does === undefined ? undefined : { kind: user, does };
};

const READS_OF_USERS: Readonly<Record<string, 'list' | 'read' | 'history' | 'proof'>> = {
  listUsers: 'list',
  getUser: 'read',
  listUserHistory: 'history',
  getUserProof: 'proof',
};

/** True if the last segment of the path names a part of the item before it: its history, a file, or a command. */
export const isOfItem = (use: Use): boolean => {
  if (use.does === 'command') return use.command.verb !== undefined || !LISTED.has(use.command.kind);
  return ['history', 'putFile', 'removeFile'].includes(use.does);
};
const LISTED: ReadonlySet<string> = new Set(['create', 'addItem']);

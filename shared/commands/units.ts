import type { JsonPatch } from '#kernel/base/json-patch.ts';
import type { Caller } from '#shared/policy.ts';
import type { Command } from './command.ts';

/**
 * A refusal reveals that the address is in use. At the usual rate, a list of addresses can be tested at one
 * per second, and twenty at once; administrators can read all addresses anyway.
 */
const UNITS_OF_ADDRESS = 100;
/** A replay reads the log, from as far back as requested. */
const UNITS_OF_REPLAY = 100;

/** The cost of a command to its sender, beside the one unit of the request. */
export const unitsMoreOf = (command: Command, caller: Caller): number => {
  const isAdministrator = caller.kind === 'system' || (caller.kind === 'user' && caller.role === 'admin');
  if (isAdministrator) return 0;
  if (command.type === 'ReplayWebhook') return UNITS_OF_REPLAY;
  return namesAddress(command) ? UNITS_OF_ADDRESS : 0;
};

const namesAddress = (command: Command): boolean => {
  if (command.type === 'UpdateUser') return typeof command.email === 'string';
  if (command.type !== 'PatchUser') return false;
  return (command.patch as JsonPatch).some(
    ({ op, path }) => op !== 'test' && op !== 'remove' && (path === '/email' || path === ''),
  );
};

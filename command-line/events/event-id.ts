import type { Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';

/** The first argument, which names an event. */
export const eventIdOf = ({ positionals: [id = ''] }: Given): string => {
  if (!/^[0-9a-f-]{36}$/i.test(id)) throw new UsageError(`<id> must be the id of an event, but is “${id}”`);
  return id;
};

import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { bytesOfDocument } from '../documents/document-size.ts';
import type { Runnable } from '../documents/run.ts';

/**
 * Counts the memory that the subscriptions of each owner keep: documents, which are far larger than their
 * texts, and variables.
 */
type MemoryBudget = {
  /** Throws if the owner, or all owners together, would exceed the limit. Disposal frees the memory. */
  take(owner: string, runnable: Runnable): Disposable;
};

/**
 * More than a thousand typical documents per owner, in this process; the second limit is for all owners
 * together.
 */
const MOST = { ofOwner: 64 * 1_048_576, inAll: 192 * 1_048_576 };

export const createMemoryBudget = (most = MOST): MemoryBudget => {
  const owners = new Map<string, number>();
  let inAll = 0;
  const add = (owner: string, bytes: number): void => {
    inAll += bytes;
    const sum = (owners.get(owner) ?? 0) + bytes;
    if (sum === 0) owners.delete(owner);
    else owners.set(owner, sum);
  };
  return {
    take(owner, { prepared, variables }) {
      const bytes = bytesOfDocument(prepared.document.loc?.end ?? 0) + JSON.stringify(variables).length;
      if ((owners.get(owner) ?? 0) + bytes > most.ofOwner)
        throw new HttpProblem('too_many_streams', { detail: TOO_MUCH, headers: RETRY_AFTER });
      if (inAll + bytes > most.inAll) throw new HttpProblem('overloaded', { headers: RETRY_AFTER });
      add(owner, bytes);
      let isKept = true;
      return {
        [Symbol.dispose]() {
          if (isKept) add(owner, -bytes);
          isKept = false;
        },
      };
    },
  };
};

const TOO_MUCH = 'Your subscriptions exceed the memory limit of a client: end some, or select fewer fields.';
const RETRY_AFTER = { 'Retry-After': '10' };

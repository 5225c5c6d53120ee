import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { StoredClient } from '../storage/client.ts';
import type { Clients } from './clients.ts';

/** For lists, which show the others if the document of one cannot be read just now. */
export const findReachable = async (
  { find }: Pick<Clients, 'find'>,
  clientId: string,
): Promise<StoredClient | undefined> => {
  try {
    return await find(clientId);
  } catch (error) {
    if (error instanceof HttpProblem && error.code === 'unavailable') return undefined;
    throw error;
  }
};
